/** Reads what charts show. */
import type { Clock } from '../base/clock.ts';
import type { UsageSample } from '../model/usage-sample.ts';
import type { KernelFilesPort } from './cgroup-files.ts';
import type { Collector } from './collector.ts';
import { type NodeGroups, planTargets, type StatsPod, type Target } from './rules/targets.ts';
import { computeUsageSample, parseDiskTransfer } from './rules/usage-sample.ts';

export interface SampleRequest {
  /** With the network of all pods. */
  readonly detail: boolean;
  /** The pod whose disks are read, too. */
  readonly uid?: string | undefined;
}

export interface SamplingDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly files: Pick<KernelFilesPort, 'read'>;
  readonly collector: Pick<Collector, 'read'>;
  readonly pods: () => readonly StatsPod[];
  readonly groups: () => NodeGroups;
  readonly hasPressure: () => boolean;
}

export async function readSample(
  deps: SamplingDeps,
  { detail, uid }: SampleRequest,
  signal: AbortSignal,
): Promise<UsageSample> {
  const { clock, files, collector } = deps;
  const pods = deps.pods();
  const targets = planTargets(deps.groups(), pods);
  const isWhole = ({ path, pod }: Target) => path === '/' || (pod !== undefined && pod.uid === uid);
  const some = targets.filter((target) => !isWhole(target));
  const readings = new Map([
    ...(await collector.read(some, detail ? 'rates' : 'basic', signal)),
    ...(await collector.read(targets.filter(isWhole), 'metrics', signal)),
  ]);
  const nodeDisk = parseDiskTransfer(files.read('/proc/diskstats'));
  return computeUsageSample({ time: clock.now(), pods, readings, nodeDisk, hasPressure: deps.hasPressure() });
}
