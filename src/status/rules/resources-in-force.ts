/** The resources in force for a running container: those allocated to it, except where the runtime reports others. */
import type { ResourceRequirements } from '../../api/container.ts';
import { milliCpuToQuota, milliCpuToShares, quotaToMilliCpu, sharesToMilliCpu } from '../../api/cpu-units.ts';
import type { ResourceList } from '../../api/meta.ts';
import { quantityOf } from '../../api/pod-resources.ts';
import {
  formatQuantity,
  quantityFromMillis,
  quantityFromUnits,
  quantityMilliValue,
  quantityValue,
} from '../../api/quantity.ts';
import type { ObservedContainer, ObservedResources } from '../../model/observation.ts';

/** The runtime knows CPU and memory alone, and no request of memory: that is as it was last given. All else is as allocated. */
export function resourcesInForce(
  given: ResourceRequirements,
  { state, resources }: Pick<ObservedContainer, 'state' | 'resources'>,
  last?: ResourceRequirements,
): ResourceRequirements {
  if (state !== 'running') return given;
  const allocated = withLastMemory(given, last);
  if (resources === undefined) return allocated;
  const { limits, requests } = allocated;
  return {
    ...allocated,
    ...(limits === undefined ? {} : { limits: { ...limits, ...observedLimits(limits, resources) } }),
    ...(requests === undefined ? {} : { requests: { ...requests, ...observedRequests(requests, resources) } }),
  };
}

function withLastMemory(given: ResourceRequirements, last: ResourceRequirements | undefined): ResourceRequirements {
  const memory = last?.requests?.['memory'];
  if (given.requests === undefined || memory === undefined || given.requests['memory'] === memory) return given;
  return { ...given, requests: { ...given.requests, memory } };
}

/** An amount that comes to the same in the kernel's units keeps the form in which it was asked for. */
function observedLimits(limits: ResourceList, { cpuQuota, cpuPeriod, memoryLimit }: ObservedResources): ResourceList {
  const milli = Number(quantityMilliValue(quantityOf(limits, 'cpu')));
  const sameCpu = cpuQuota <= 0 || cpuPeriod <= 0 || milliCpuToQuota(milli, cpuPeriod) === cpuQuota;
  const sameMemory = memoryLimit <= 0 || Number(quantityValue(quantityOf(limits, 'memory'))) === memoryLimit;
  return {
    ...(sameCpu ? {} : { cpu: milliCpuText(quotaToMilliCpu(cpuQuota, cpuPeriod)) }),
    ...(sameMemory ? {} : { memory: formatQuantity(quantityFromUnits(BigInt(memoryLimit), 'binary')) }),
  };
}

function observedRequests(requests: ResourceList, { cpuShares }: ObservedResources): ResourceList {
  const milli = Number(quantityMilliValue(quantityOf(requests, 'cpu')));
  if (cpuShares <= 0 || milliCpuToShares(milli) === cpuShares) return {};
  return { cpu: milliCpuText(sharesToMilliCpu(cpuShares)) };
}

function milliCpuText(milliCpu: number): string {
  return formatQuantity(quantityFromMillis(BigInt(milliCpu), 'decimal'));
}
