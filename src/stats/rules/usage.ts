/** Readings as decisions about pressure need them: what is free on the node, and what each pod uses. */
import { podUid } from '../../api/ids.ts';
import type { DiskUse, EvictionSignal, PodUsage, PodUsages, SignalReading, SignalReadings } from '../../model/usage.ts';
import type { CgroupReading, Readings } from './reading.ts';
import type { FsFacts, NodeStorage } from './summary.ts';
import type { NodeGroups, StatsPod } from './targets.ts';

export function computeSignals(
  readings: Readings,
  groups: NodeGroups,
  storage: Pick<NodeStorage, 'node' | 'image' | 'rlimit'>,
): SignalReadings {
  const { node, image, rlimit } = storage;
  const found: readonly (readonly [EvictionSignal, SignalReading | undefined])[] = [
    ['memory.available', memory(readings.get('/'))],
    ['allocatableMemory.available', groups.pods === undefined ? undefined : memory(readings.get(groups.pods))],
    ['nodefs.available', reading(node.availableBytes, node.capacityBytes, node.time)],
    ['nodefs.inodesFree', reading(node.inodesFree, node.inodes, node.time)],
    ['imagefs.available', reading(image?.availableBytes, image?.capacityBytes, image?.time)],
    ['imagefs.inodesFree', reading(image?.inodesFree, image?.inodes, image?.time)],
    ['containerfs.available', reading(image?.availableBytes, image?.capacityBytes, image?.time)],
    ['containerfs.inodesFree', reading(image?.inodesFree, image?.inodes, image?.time)],
    [
      'pid.available',
      rlimit.maxPid === undefined || rlimit.processes === undefined
        ? undefined
        : reading(rlimit.maxPid - rlimit.processes, rlimit.maxPid, rlimit.time),
    ],
  ];
  return new Map(found.flatMap(([signal, value]) => (value === undefined ? [] : [[signal, value]])));
}

function memory(found: CgroupReading | undefined): SignalReading | undefined {
  const limit = found?.spec.memory?.limit;
  if (found?.memory === undefined || limit === undefined || !Number.isFinite(limit)) return undefined;
  const available = Math.max(limit - found.memory.workingSet, 0);
  return { available, capacity: available + found.memory.workingSet, time: found.time };
}

function reading(
  available: number | undefined,
  capacity: number | undefined,
  time: number | undefined,
): SignalReading | undefined {
  if (available === undefined || capacity === undefined || time === undefined) return undefined;
  return { available, capacity, time };
}

export function computePodUsages(pods: readonly StatsPod[], readings: Readings, storage: NodeStorage): PodUsages {
  return new Map(pods.map((pod) => [podUid(pod.uid), computePodUsage(pod, readings, storage)]));
}

function computePodUsage(pod: StatsPod, readings: Readings, storage: NodeStorage): PodUsage {
  const stored = storage.pods.get(pod.uid);
  const containers = pod.containers.map(({ id, name, cgroup }) => ({
    name,
    memory: readings.get(cgroup)?.memory?.workingSet,
    rootfs: diskUse(stored?.rootfs.get(id)),
    logs: diskUse(stored?.logs.get(name)),
  }));
  const volumes = new Map(
    (stored?.volumes ?? []).map((volume) => [
      volume.name,
      { ...(diskUse(volume) ?? { bytes: 0, inodes: 0 }), isLocal: volume.isEphemeral },
    ]),
  );
  const local = [...volumes.values()].filter(({ isLocal }) => isLocal);
  const parts = [...containers.flatMap(({ rootfs, logs }) => [rootfs, logs]), ...local, diskUse(stored?.own)];
  return {
    uid: podUid(pod.uid),
    memory: readings.get(pod.cgroup)?.memory?.workingSet,
    processes: pod.containers.reduce((sum, { cgroup }) => sum + (readings.get(cgroup)?.processes ?? 0), 0),
    containers,
    volumes,
    ephemeralBytes: stored === undefined ? undefined : parts.reduce((sum, part) => sum + (part?.bytes ?? 0), 0),
  };
}

function diskUse(fs: FsFacts | undefined): DiskUse | undefined {
  if (fs?.usedBytes === undefined) return undefined;
  return { bytes: fs.usedBytes, inodes: fs.inodesUsed ?? 0 };
}
