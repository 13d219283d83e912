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
}

const LEAST_SHARES = 2;

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
    ...rest,
  };
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

/** Burstable pods together weigh as much as they asked for; the others are ruled by the cgroups above and below them. */
export function qosCgroupLimits(qosClass: 'Burstable' | 'BestEffort', burstable: number): CgroupLimits {
  const cpuShares = qosClass === 'BestEffort' ? LEAST_SHARES : milliCpuToShares(burstable);
  return { cpuShares, hugePages: 'unbounded' };
}

/** What burstable pods ask for together, in thousandths of a CPU. */
export function burstableMilliCpu(pods: readonly Pod[], podLevel: boolean): number {
  return pods
    .filter((pod) => qosClassOf(pod, { podLevel }) === 'Burstable')
    .reduce((total, pod) => total + milliCpu(podRequests(pod, { podLevel, overhead: true })), 0);
}

/** All pods together: what the node has for them. */
export function nodeCgroupLimits(resources: Quantities): CgroupLimits {
  return {
    ...(resources.has('cpu') ? { cpuShares: milliCpuToShares(milliCpu(resources)) } : {}),
    ...(resources.has('memory') ? { memory: bytes(resources, 'memory') } : {}),
    ...(resources.has('pid') ? { pids: Number(bytes(resources, 'pid')) } : {}),
    hugePages: hugePagesOf(resources),
  };
}

function milliCpu(quantities: Quantities): number {
  const cpu = quantities.get('cpu');
  return cpu === undefined ? 0 : Number(quantityMilliValue(cpu));
}

function bytes(quantities: Quantities, name: string): bigint {
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
