/** How the cgroup of a pod gets from the limits that it has to those of the pod: what grows comes before its containers, what shrinks after them. */
import { type CgroupKernel, sharesToWeight } from './cgroup-files.ts';
import type { CgroupLimits } from './cgroup-limits.ts';

/** What a file of the cgroup says; undefined where there is none. */
export type ReadLimit = (file: string) => string | undefined;

export interface LimitChange {
  readonly grow: CgroupLimits;
  readonly shrink: CgroupLimits;
}

export function planLimitChange(desired: CgroupLimits, read: ReadLimit, version: CgroupKernel['version']): LimitChange {
  let grow: CgroupLimits = {};
  let shrink: CgroupLimits = {};
  const add = (limits: CgroupLimits, from: number, to: number): void => {
    if (to > from) grow = { ...grow, ...limits };
    if (to < from) shrink = { ...shrink, ...limits };
  };
  const { cpuShares, cpuQuota, cpuPeriod, memory } = desired;
  // A limit comes before the request where it grows, and after it where it shrinks.
  if (cpuQuota !== undefined && cpuQuota !== 0 && cpuPeriod !== undefined) {
    add({ cpuQuota, cpuPeriod }, currentCpu(read, version), cpuQuota < 0 ? Infinity : cpuQuota / cpuPeriod);
  }
  if (cpuShares !== undefined) {
    const to = version === 1 ? cpuShares : sharesToWeight(cpuShares);
    add({ cpuShares }, Number(read(version === 1 ? 'cpu.shares' : 'cpu.weight') ?? 0), to);
  }
  if (memory !== undefined && memory !== 0n) add({ memory }, currentMemory(read, version), amountOf(memory));
  const { memoryMin, memoryLow } = desired;
  const isProtected = memoryMin !== undefined || memoryLow !== undefined;
  const protection = {
    ...(memoryMin === undefined ? {} : { memoryMin }),
    ...(memoryLow === undefined ? {} : { memoryLow }),
  };
  return { grow, shrink: isProtected ? { ...shrink, ...protection } : shrink };
}

export function isEmptyChange(limits: CgroupLimits): boolean {
  return Object.keys(limits).length === 0;
}

/** As processors. */
function currentCpu(read: ReadLimit, version: 1 | 2): number {
  const [quota = '', period = ''] =
    version === 1
      ? [read('cpu.cfs_quota_us') ?? '-1', read('cpu.cfs_period_us') ?? '100000']
      : (read('cpu.max') ?? 'max 100000').split(' ');
  return quota === 'max' || Number(quota) < 0 ? Infinity : Number(quota) / Number(period);
}

function currentMemory(read: ReadLimit, version: 1 | 2): number {
  const text = read(version === 1 ? 'memory.limit_in_bytes' : 'memory.max') ?? 'max';
  return text === 'max' ? Infinity : amountOf(BigInt(text));
}

/** The largest number of version 1 is no limit. */
const UNLIMITED = 2n ** 62n;

function amountOf(bytes: bigint): number {
  return bytes < 0n || bytes >= UNLIMITED ? Infinity : Number(bytes);
}
