/** From readings of cgroups to what charts show. */
import type { PodSample, Transfer, Usage, UsageSample, Waiting } from '../../model/usage-sample.ts';
import { NO_PRESSURE, type Pressure } from './kernel-text.ts';
import type { CgroupReading, Readings } from './reading.ts';
import type { StatsPod } from './targets.ts';

export interface SampleInput {
  readonly time: number;
  readonly pods: readonly StatsPod[];
  readonly readings: Readings;
  /** Of the node's own disks: a cgroup of the first generation counts those of its processes only. */
  readonly nodeDisk: Transfer | undefined;
  readonly hasPressure: boolean;
}

export function computeUsageSample({ time, pods, readings, nodeDisk, hasPressure }: SampleInput): UsageSample {
  const node = usageOf(readings.get('/'), hasPressure);
  return {
    time,
    node: { ...node, disk: nodeDisk },
    pods: pods.flatMap((pod) => podSample(pod, readings, hasPressure)),
  };
}

/** Nothing of a pod whose cgroup is gone. */
function podSample(pod: StatsPod, readings: Readings, hasPressure: boolean): readonly PodSample[] {
  const own = readings.get(pod.cgroup);
  if (own === undefined) return [];
  const sandbox = pod.sandbox && readings.get(pod.sandbox.cgroup);
  const containers = pod.containers.flatMap(({ name, cgroup }) => {
    const reading = readings.get(cgroup);
    return reading === undefined ? [] : [{ name, ...usageOf(reading, hasPressure) }];
  });
  return [{ uid: pod.uid, ...usageOf(own, hasPressure), network: networkOf(sandbox), containers }];
}

function usageOf(reading: CgroupReading | undefined, hasPressure: boolean): Usage {
  return {
    cpu: reading?.cpu?.usage ?? 0,
    memory: reading?.memory?.workingSet ?? 0,
    network: networkOf(reading),
    disk: diskOf(reading),
    waiting: hasPressure && reading !== undefined ? waitingOf(reading) : undefined,
  };
}

function networkOf(reading: CgroupReading | undefined): Transfer | undefined {
  const outside = reading?.interfaces?.filter(({ name }) => name !== 'lo');
  if (outside === undefined || outside.length === 0) return undefined;
  return {
    in: outside.reduce((sum, { rxBytes }) => sum + rxBytes, 0),
    out: outside.reduce((sum, { txBytes }) => sum + txBytes, 0),
  };
}

function diskOf(reading: CgroupReading | undefined): Transfer | undefined {
  const disks = reading?.io?.bytes;
  if (disks === undefined) return undefined;
  const sum = (operation: 'Read' | 'Write') =>
    disks.reduce((total, { operations }) => total + (operations[operation] ?? 0), 0);
  return { in: sum('Read'), out: sum('Write') };
}

function waitingOf({ cpu, memory, io }: CgroupReading): Waiting {
  const some = (pressure: Pressure | undefined) => (pressure ?? NO_PRESSURE).some.avg10;
  return { cpu: some(cpu?.pressure), memory: some(memory?.pressure), io: some(io?.pressure) };
}

const SECTOR_BYTES = 512;
/** Parts of disks, and devices over other devices, would count the same bytes once more. */
const WHOLE_DISK = /^(?:sd[a-z]+|vd[a-z]+|xvd[a-z]+|hd[a-z]+|nvme\d+n\d+|mmcblk\d+)$/;

/** The bytes of all disks, by `/proc/diskstats`. */
export function parseDiskTransfer(text: string | undefined): Transfer | undefined {
  if (text === undefined) return undefined;
  let [read, written] = [0, 0];
  for (const line of text.split('\n')) {
    const words = line.trim().split(/\s+/);
    if (!WHOLE_DISK.test(words[2] ?? '')) continue;
    read += Number(words[5] ?? 0) * SECTOR_BYTES;
    written += Number(words[9] ?? 0) * SECTOR_BYTES;
  }
  return Number.isFinite(read + written) ? { in: read, out: written } : undefined;
}
