/** Limits as the files of the kernel's two generations of cgroups take them. */
import type { CgroupLimits } from './cgroup-limits.ts';

/** The file's name begins with its controller: `cpu.shares`. */
export interface CgroupValue {
  readonly file: string;
  readonly value: string;
  /** Older kernels have no such file. */
  readonly optional?: boolean;
}

export interface CgroupKernel {
  readonly version: 1 | 2;
  /** What a cgroup can be limited in here. */
  readonly controllers: ReadonlySet<string>;
  /** Bytes. */
  readonly hugePageSizes: readonly bigint[];
}

const KIBI = 1024n;
/** So many bytes that it is no limit. */
const UNBOUNDED = 1n << 62n;
const DEFAULT_PERIOD = 100_000;

export function cgroupValues(limits: CgroupLimits, kernel: CgroupKernel): readonly CgroupValue[] {
  const values = [
    ...(kernel.version === 1 ? cpuV1(limits) : cpuV2(limits)),
    ...memory(limits, kernel.version),
    ...(kernel.version === 2 ? protectedMemory(limits) : []),
    ...pids(limits),
    ...(limits.cpus === undefined ? [] : [{ file: 'cpuset.cpus', value: limits.cpus }]),
    ...hugePages(limits, kernel),
  ];
  return values.filter(({ file }) => kernel.controllers.has(controllerOf(file)));
}

export function controllerOf(file: string): string {
  return file.slice(0, file.indexOf('.'));
}

function cpuV1({ cpuShares, cpuQuota = 0, cpuPeriod }: CgroupLimits): readonly CgroupValue[] {
  return [
    ...(cpuShares === undefined ? [] : [{ file: 'cpu.shares', value: String(cpuShares) }]),
    ...(cpuPeriod === undefined ? [] : [{ file: 'cpu.cfs_period_us', value: String(cpuPeriod) }]),
    ...(cpuQuota === 0 ? [] : [{ file: 'cpu.cfs_quota_us', value: String(cpuQuota) }]),
  ];
}

function cpuV2({ cpuShares, cpuQuota = 0, cpuPeriod }: CgroupLimits): readonly CgroupValue[] {
  const quota = cpuQuota > 0 ? String(cpuQuota) : 'max';
  return [
    ...(cpuShares === undefined ? [] : [{ file: 'cpu.weight', value: String(sharesToWeight(cpuShares)) }]),
    ...(cpuQuota === 0 && cpuPeriod === undefined
      ? []
      : [{ file: 'cpu.max', value: `${quota} ${cpuPeriod ?? DEFAULT_PERIOD}` }]),
  ];
}

/**
 * From 2…262144 shares to a weight of 1…10000, in a straight line: what kubelets write for pods and classes. (Runtimes have a
 * curve of their own for containers since runc 1.3; siblings are weighed against each other, so the two don't meet.)
 */
export function sharesToWeight(shares: number): number {
  if (shares >= 262_144) return 10_000;
  return 1 + Math.trunc(((shares - 2) * 9999) / 262_142);
}

function memory({ memory: limit = 0n }: CgroupLimits, version: 1 | 2): readonly CgroupValue[] {
  if (limit === 0n) return [];
  if (version === 1) return [{ file: 'memory.limit_in_bytes', value: String(limit) }];
  return [{ file: 'memory.max', value: limit < 0n ? 'max' : String(limit) }];
}

function protectedMemory({ memoryMin, memoryLow }: CgroupLimits): readonly CgroupValue[] {
  return [
    ...(memoryMin === undefined ? [] : [{ file: 'memory.min', value: String(memoryMin) }]),
    ...(memoryLow === undefined ? [] : [{ file: 'memory.low', value: String(memoryLow) }]),
  ];
}

/** A limit of zero would not let the first process in. */
function pids({ pids: limit }: CgroupLimits): readonly CgroupValue[] {
  if (limit === undefined) return [];
  return [{ file: 'pids.max', value: limit < 0 ? 'max' : String(Math.max(limit, 1)) }];
}

function hugePages({ hugePages: limits }: CgroupLimits, kernel: CgroupKernel): readonly CgroupValue[] {
  if (limits === undefined) return [];
  const suffix = kernel.version === 1 ? 'limit_in_bytes' : 'max';
  return kernel.hugePageSizes.flatMap((size) => {
    const prefix = `hugetlb.${hugePageName(size)}`;
    const value = String(limits === 'unbounded' ? UNBOUNDED : (limits.get(size) ?? 0n));
    return [
      { file: `${prefix}.${suffix}`, value },
      { file: `${prefix}.rsvd.${suffix}`, value, optional: true },
    ];
  });
}

/** 2097152 is `2MB` in the names of the kernel's files. */
export function hugePageName(size: bigint): string {
  if (size >= KIBI ** 3n) return `${size / KIBI ** 3n}GB`;
  return size >= KIBI ** 2n ? `${size / KIBI ** 2n}MB` : `${size / KIBI}KB`;
}
