/** What a cgroup may use, in the terms of pods: of one pod, of all pods of a QoS class, of all pods of the node. */
import type { Container } from '../../api/container.ts';
import { milliCpuToQuota, milliCpuToShares } from '../../api/cpu-units.ts';
import type { Pod } from '../../api/pod.ts';
import { podLimits, podRequests, type Quantities, quantityOf } from '../../api/pod-resources.ts';
import { isSidecar } from '../../api/pod-traits.ts';
import { qosClassOf } from '../../api/qos-class.ts';
import { parseQuantity, quantityMilliValue, quantityValue } from '../../api/quantity.ts';

/** What is missing is left as it is. */
export interface CgroupLimits {
  readonly cpuShares?: number;
  /** Microseconds in each period; 0 leaves it as it is, -1 is no limit. */
  readonly cpuQuota?: number;
  /** Microseconds. */
  readonly cpuPeriod?: number;
  readonly memory?: bigint;
  /** Bytes that the kernel leaves here even when memory is short. Only on cgroup v2, as `memoryLow`. */
  readonly memoryMin?: bigint;
  /** Bytes that the kernel takes only when there is nothing else to take. */
  readonly memoryLow?: bigint;
  /** Processors by number, as `0-3,8`. */
  readonly cpus?: string;
  readonly pids?: number;
  /** Bytes by page size in bytes; sizes that are missing get none. Undefined leaves all as they are. */
  readonly hugePages?: ReadonlyMap<bigint, bigint> | 'unbounded';
}

export interface PodLimitSettings {
  readonly podLevel: boolean;
  readonly cpuCfsQuota: boolean;
  /** Microseconds. */
  readonly cpuCfsQuotaPeriod: number;
  /** Not positive: no limit. */
  readonly podPidsLimit: number;
  /** Whether the memory that pods request is protected from reclaim. */
  readonly protectMemory: boolean;
}

export const LEAST_SHARES = 2;

export function podCgroupLimits(pod: Pod, settings: PodLimitSettings): CgroupLimits {
  const { podLevel } = settings;
  const requests = podRequests(pod, { podLevel, overhead: true });
  const qosClass = qosClassOf(pod, { podLevel });
  const rest: CgroupLimits = {
    ...(settings.podPidsLimit > 0 ? { pids: settings.podPidsLimit } : {}),
    hugePages: hugePagesOf(requests),
  };
  if (qosClass === 'BestEffort') return { cpuShares: LEAST_SHARES, ...rest };
  const limits = podLimits(pod, { podLevel, overhead: true });
  const cpuLimited = qosClass === 'Guaranteed' || isDeclared(pod, 'cpu', podLevel);
  const memoryLimited = qosClass === 'Guaranteed' || isDeclared(pod, 'memory', podLevel);
  return {
    cpuShares: milliCpuToShares(milliCpu(requests)),
    ...(cpuLimited ? cpuTime(milliCpu(limits), settings) : {}),
    ...(memoryLimited ? { memory: bytes(limits, 'memory') } : {}),
    ...(settings.protectMemory ? protectedMemory(bytes(requests, 'memory'), qosClass) : {}),
    ...rest,
  };
}

function protectedMemory(request: bigint, qosClass: 'Guaranteed' | 'Burstable'): CgroupLimits {
  if (request === 0n) return {};
  return qosClass === 'Guaranteed' ? { memoryMin: request } : { memoryLow: request };
}

function cpuTime(milli: number, { cpuCfsQuota, cpuCfsQuotaPeriod: cpuPeriod }: PodLimitSettings): CgroupLimits {
  return { cpuQuota: cpuCfsQuota ? milliCpuToQuota(milli, cpuPeriod) : -1, cpuPeriod };
}

/**
 * A pod as a whole is limited where nothing in it is without a limit: one container without one could use all there is. An
 * init container is taken together with the sidecars before it, as in the sum of limits.
 */
function isDeclared(pod: Pod, name: 'cpu' | 'memory', podLevel: boolean): boolean {
  const limited = (holder: Pick<Container, 'resources'>) => quantityOf(holder.resources?.limits, name).nanos !== 0n;
  if (podLevel && limited(pod.spec)) return true;
  if (!pod.spec.containers.every(limited)) return false;
  let sidecarLimited = false;
  for (const container of pod.spec.initContainers ?? []) {
    if (!limited(container) && !sidecarLimited) return false;
    sidecarLimited ||= isSidecar(pod, container) && limited(container);
  }
  return true;
}

/** What the kernel's limits can say of these amounts. */
export function limitsOf(resources: Quantities): CgroupLimits {
  return {
    ...(resources.has('cpu') ? { cpuShares: milliCpuToShares(milliCpu(resources)) } : {}),
    ...(resources.has('memory') ? { memory: bytes(resources, 'memory') } : {}),
    ...(resources.has('pid') ? { pids: Number(bytes(resources, 'pid')) } : {}),
    hugePages: hugePagesOf(resources),
  };
}

export function milliCpu(quantities: Quantities): number {
  const cpu = quantities.get('cpu');
  return cpu === undefined ? 0 : Number(quantityMilliValue(cpu));
}

export function bytes(quantities: Quantities, name: string): bigint {
  const quantity = quantities.get(name);
  return quantity === undefined ? 0n : quantityValue(quantity);
}

const HUGE_PAGES = 'hugepages-';

function hugePagesOf(quantities: Quantities): ReadonlyMap<bigint, bigint> {
  const limits = new Map<bigint, bigint>();
  for (const [name, quantity] of quantities) {
    if (!name.startsWith(HUGE_PAGES)) continue;
    const size = parseQuantity(name.slice(HUGE_PAGES.length));
    if (size.ok) limits.set(quantityValue(size.value), quantityValue(quantity));
  }
  return limits;
}
