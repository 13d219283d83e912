/** Thousandths of a CPU in the units of the Linux scheduler. */
const LEAST_SHARES = 2;
const MOST_SHARES = 262_144;
const SHARES_PER_CPU = 1024;
/** The kernel takes no quota below one millisecond, in microseconds. */
const LEAST_QUOTA = 1000;

export const DEFAULT_QUOTA_PERIOD = 100_000;

/** cgroup v1 `cpu.shares`. Nothing asked for is the smallest share, not the kernel's default. */
export function milliCpuToShares(milliCpu: number): number {
  const shares = Math.trunc((milliCpu * SHARES_PER_CPU) / 1000);
  return Math.min(Math.max(shares, LEAST_SHARES), MOST_SHARES);
}

/** Microseconds of CPU time in each period; 0 stands for no limit. */
export function milliCpuToQuota(milliCpu: number, period: number): number {
  if (milliCpu === 0) return 0;
  return Math.max(Math.trunc((milliCpu * period) / 1000), LEAST_QUOTA);
}

/** Of cgroup v1 `cpu.shares`, rounded up, so that it gives the same shares again. */
export function sharesToMilliCpu(shares: number): number {
  return Math.ceil((shares * 1000) / SHARES_PER_CPU);
}

export function quotaToMilliCpu(quota: number, period: number): number {
  return Math.trunc((quota * 1000) / period);
}
