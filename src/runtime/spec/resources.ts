/** What a container may use, in the numbers of the Linux kernel. */
import type { Container } from '../../api/container.ts';
import { DEFAULT_QUOTA_PERIOD, milliCpuToQuota, milliCpuToShares } from '../../api/cpu-units.ts';
import type { ResourceList, StringMap } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import { hasPodLevelResources, podLimits, podRequests, quantityOf } from '../../api/pod-resources.ts';
import type { QosClass } from '../../api/pod-status.ts';
import { type Quantity, quantityMilliValue, quantityValue, zeroQuantity } from '../../api/quantity.ts';
import type { LinuxContainerResources } from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';
import { hugePageLimits } from './huge-pages.ts';
import { memoryQos } from './memory-qos.ts';
import { oomScoreAdjustment } from './oom-score.ts';
import type { Gates, ResourceSettings } from './settings.ts';
import { swapLimit } from './swap.ts';

export interface ContainerResourcesInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly qosClass: QosClass;
  /** The CPU manager gave it whole CPUs of its own. */
  readonly exclusiveCpus: boolean;
  /** CPUs and memory nodes to run on, in list form; empty where any will do. */
  readonly pinning: { readonly cpus: string; readonly mems: string };
  readonly nodeAllocatable: ResourceList;
  readonly settings: ResourceSettings;
  readonly gates: Gates;
}

/** Also the answer to a resize: the runtime gets it again. */
export function containerResources(input: ContainerResourcesInput): Init<LinuxContainerResources> {
  const { pod, container, settings, gates } = input;
  const limits = effectiveLimits(pod, container, gates);
  const base = linuxResources(
    {
      cpuRequest: container.resources?.requests?.['cpu'] === undefined ? undefined : requestOf(container, 'cpu'),
      cpuLimit: limits.cpu,
      memoryLimit: limits.memory,
      unlimitedCpu: input.exclusiveCpus && gates('DisableCPUQuotaWithExclusiveCPUs'),
    },
    settings,
    gates,
  );
  const swap = swapLimit({ ...input, memoryLimit: base.memoryLimitInBytes ?? 0 });
  const unified: StringMap = { ...base.unified, ...swap.unified, ...memoryQos(input) };
  return {
    ...base,
    oomScoreAdj: oomScoreAdjustment(input),
    hugepageLimits: hugePageLimits(pod, container, {
      sizes: settings.hugePageSizes,
      podLevel: gates('PodLevelResources'),
    }),
    cpusetCpus: input.pinning.cpus,
    cpusetMems: input.pinning.mems,
    memorySwapLimitInBytes: swap.bytes,
    unified,
  };
}

export interface SandboxResourcesInput {
  readonly pod: Pod;
  readonly exclusiveCpus: boolean;
  readonly settings: ResourceSettings;
  readonly gates: Gates;
}

/** For runtimes that size a virtual machine by them: all containers together, without overhead. */
export function sandboxResources(input: SandboxResourcesInput): Init<LinuxContainerResources> {
  const { pod, settings, gates } = input;
  const options = { podLevel: gates('PodLevelResources'), overhead: false };
  const requests = podRequests(pod, options);
  const limits = podLimits(pod, options);
  return linuxResources(
    {
      cpuRequest: requests.get('cpu'),
      cpuLimit: limits.get('cpu') ?? zeroQuantity,
      memoryLimit: limits.get('memory') ?? zeroQuantity,
      unlimitedCpu: input.exclusiveCpus && gates('DisableCPUQuotaWithExclusiveCPUs'),
    },
    settings,
    gates,
  );
}

/** What the runtime itself needs for the pod; it counts as both requested and limited. */
export function overheadResources(pod: Pod, settings: ResourceSettings, gates: Gates): Init<LinuxContainerResources> {
  if (pod.spec.overhead === undefined) return {};
  const cpu = quantityOf(pod.spec.overhead, 'cpu');
  const memory = quantityOf(pod.spec.overhead, 'memory');
  const request = { cpuRequest: cpu, cpuLimit: cpu, memoryLimit: memory, unlimitedCpu: false };
  return linuxResources(request, settings, gates);
}

interface ResourceRequest {
  /** Undefined where none is given: then the limit decides the shares too. */
  readonly cpuRequest: Quantity | undefined;
  readonly cpuLimit: Quantity;
  readonly memoryLimit: Quantity;
  readonly unlimitedCpu: boolean;
}

function linuxResources(
  request: ResourceRequest,
  settings: ResourceSettings,
  gates: Gates,
): Init<LinuxContainerResources> {
  const milliLimit = toNumber(quantityMilliValue(request.cpuLimit));
  const milliRequest = request.cpuRequest === undefined ? milliLimit : toNumber(quantityMilliValue(request.cpuRequest));
  return {
    cpuShares: milliCpuToShares(milliRequest),
    memoryLimitInBytes: toNumber(quantityValue(request.memoryLimit)),
    ...(settings.cpuCfsQuota ? quotaOf(milliLimit, request.unlimitedCpu, quotaPeriod(settings, gates)) : {}),
    ...(settings.cgroupVersion === 2 && !settings.singleProcessOomKill ? { unified: { 'memory.oom.group': '1' } } : {}),
  };
}

function quotaPeriod(settings: ResourceSettings, gates: Gates): number {
  return gates('CustomCPUCFSQuotaPeriod') ? settings.cpuCfsQuotaPeriod : DEFAULT_QUOTA_PERIOD;
}

function quotaOf(milliLimit: number, unlimited: boolean, period: number): { cpuPeriod: number; cpuQuota: number } {
  return { cpuPeriod: period, cpuQuota: unlimited ? -1 : milliCpuToQuota(milliLimit, period) };
}

/** A container without a limit of its own is held to that of its pod. */
function effectiveLimits(pod: Pod, container: Container, gates: Gates): { cpu: Quantity; memory: Quantity } {
  const podLevel = gates('PodLevelResources') && hasPodLevelResources(pod) ? pod.spec.resources?.limits : undefined;
  const limit = (name: string): Quantity => {
    const own = quantityOf(container.resources?.limits, name);
    return own.nanos === 0n ? quantityOf(podLevel, name) : own;
  };
  return { cpu: limit('cpu'), memory: limit('memory') };
}

function requestOf(container: Container, name: string): Quantity {
  return quantityOf(container.resources?.requests, name);
}

/** Sizes travel as numbers; one that a number can't hold is larger than any machine. */
function toNumber(value: bigint): number {
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}
