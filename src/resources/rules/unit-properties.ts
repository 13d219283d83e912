/** Limits as properties of systemd's units: what systemd knows of, it would otherwise write over with its own values. */
import { parseCpuSet } from '../../api/cpu-set.ts';
import { sharesToWeight } from './cgroup-files.ts';
import type { CgroupLimits } from './cgroup-limits.ts';

export interface UnitProperty {
  readonly name: string;
  /** With the D-Bus signature of its type. */
  readonly value: {
    readonly signature: string;
    readonly value: string | boolean | bigint | readonly (string | number)[];
  };
}

export interface UnitKernel {
  readonly version: 1 | 2;
  readonly systemdVersion: number;
}

/** What stands for "no limit" in systemd's numbers. */
const INFINITY = 2n ** 64n - 1n;
const DEFAULT_PERIOD = 100_000n;
const SECOND = 1_000_000n;
/** systemd counts processor time in whole percent. */
const PERCENT_OF_A_SECOND = SECOND / 100n;
const PERIOD_SINCE = 242;
const CPUSET_SINCE = 244;

/** What a slice is made with. Its limits are set once it is there. */
export function sliceProperties(unit: string, parent: string, version: 1 | 2): readonly UnitProperty[] {
  const yes = (name: string): UnitProperty => ({ name, value: { signature: 'b', value: true } });
  return [
    { name: 'Description', value: { signature: 's', value: `libcontainer container ${unit}` } },
    // A slice is below the one that its name says; wanting it makes that one, too.
    { name: 'Wants', value: { signature: 'as', value: [parent] } },
    yes('MemoryAccounting'),
    yes('CPUAccounting'),
    yes(version === 1 ? 'BlockIOAccounting' : 'IOAccounting'),
    yes('TasksAccounting'),
    { name: 'DefaultDependencies', value: { signature: 'b', value: false } },
  ];
}

export function unitProperties(limits: CgroupLimits, kernel: UnitKernel): readonly UnitProperty[] {
  const { memory = 0n, cpuShares, pids, memoryMin, memoryLow } = limits;
  const isV1 = kernel.version === 1;
  return [
    ...(memory === 0n ? [] : [number(isV1 ? 'MemoryLimit' : 'MemoryMax', memory < 0n ? INFINITY : memory)]),
    ...(cpuShares === undefined ? [] : [cpuWeight(cpuShares, isV1)]),
    ...cpuQuota(limits, kernel),
    ...(pids === undefined ? [] : [number('TasksMax', pids < 0 ? INFINITY : BigInt(Math.max(pids, 1)))]),
    ...cpuset(limits, kernel),
    ...(isV1 || memoryMin === undefined ? [] : [number('MemoryMin', memoryMin)]),
    ...(isV1 || memoryLow === undefined ? [] : [number('MemoryLow', memoryLow)]),
  ];
}

/** The same limits with a quota that is a whole percentage of a processor, as systemd will write it. */
export function roundForSystemd(limits: CgroupLimits): CgroupLimits {
  const { cpuQuota: quota = 0, cpuPeriod } = limits;
  if (quota <= 0) return limits;
  const period = BigInt(cpuPeriod ?? DEFAULT_PERIOD);
  return { ...limits, cpuQuota: Number((quotaPerSecond(BigInt(quota), period) * period) / SECOND) };
}

/** Rounded up: containers below must be able to have the quota that they were given. */
function quotaPerSecond(quota: bigint, period: bigint): bigint {
  const exact = (quota * SECOND) / period;
  return exact % PERCENT_OF_A_SECOND === 0n ? exact : (exact / PERCENT_OF_A_SECOND + 1n) * PERCENT_OF_A_SECOND;
}

function cpuWeight(cpuShares: number, isV1: boolean): UnitProperty {
  return isV1 ? number('CPUShares', BigInt(cpuShares)) : number('CPUWeight', BigInt(sharesToWeight(cpuShares)));
}

function cpuQuota({ cpuQuota: quota = 0, cpuPeriod }: CgroupLimits, kernel: UnitKernel): readonly UnitProperty[] {
  if (quota === 0 && cpuPeriod === undefined) return [];
  const period = cpuPeriod === undefined ? DEFAULT_PERIOD : BigInt(cpuPeriod);
  const perSecond = quota > 0 ? quotaPerSecond(BigInt(quota), period) : INFINITY;
  const withPeriod = cpuPeriod !== undefined && kernel.systemdVersion >= PERIOD_SINCE;
  return [...(withPeriod ? [number('CPUQuotaPeriodUSec', period)] : []), number('CPUQuotaPerSecUSec', perSecond)];
}

function cpuset({ cpus }: CgroupLimits, { systemdVersion }: UnitKernel): readonly UnitProperty[] {
  if (cpus === undefined || systemdVersion < CPUSET_SINCE) return [];
  const parsed = parseCpuSet(cpus);
  return parsed.ok ? [{ name: 'AllowedCPUs', value: { signature: 'ay', value: toBits(parsed.value) } }] : [];
}

/** One bit for each processor, the lowest first. */
function toBits(cpus: readonly number[]): readonly number[] {
  const bytes = Array<number>(Math.floor(Math.max(0, ...cpus) / 8) + 1).fill(0);
  for (const cpu of cpus) bytes[cpu >> 3] = (bytes[cpu >> 3] ?? 0) | (1 << (cpu & 7));
  return bytes;
}

function number(name: string, value: bigint): UnitProperty {
  return { name, value: { signature: 't', value } };
}
