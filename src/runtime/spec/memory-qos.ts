import type { Container } from '../../api/container.ts';
import type { ResourceList, StringMap } from '../../api/meta.ts';
import { quantityOf } from '../../api/pod-resources.ts';
import type { QosClass } from '../../api/pod-status.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { Gates, ResourceSettings } from './settings.ts';

export interface MemoryQosInput {
  readonly container: Container;
  readonly qosClass: QosClass;
  readonly nodeAllocatable: ResourceList;
  readonly settings: ResourceSettings;
  readonly gates: Gates;
}

/** cgroup v2 with the gate MemoryQoS: protect what was requested, and slow down long before the limit kills. */
export function memoryQos(input: MemoryQosInput): StringMap {
  const { container, settings, gates } = input;
  if (settings.cgroupVersion !== 2 || !gates('MemoryQoS')) return {};
  const request = Number(quantityValue(quantityOf(container.resources?.requests, 'memory')));
  const limit = Number(quantityValue(quantityOf(container.resources?.limits, 'memory')));
  const high = throttleAt(request, limit, input);
  return { ...reservation(request, input), ...(high > request ? { 'memory.high': String(high) } : {}) };
}

function reservation(request: number, { qosClass, settings }: MemoryQosInput): StringMap {
  if (request === 0 || settings.memoryReservationPolicy !== 'TieredReservation') {
    return { 'memory.min': '0', 'memory.low': '0' };
  }
  return qosClass === 'Guaranteed' ? { 'memory.min': String(request) } : { 'memory.low': String(request) };
}

/** Part of the way from the request to the limit, or to all that the node has; whole pages. 0: nowhere. */
function throttleAt(request: number, limit: number, { nodeAllocatable, settings }: MemoryQosInput): number {
  if (request === limit) return 0;
  const end = limit === 0 ? Number(quantityValue(quantityOf(nodeAllocatable, 'memory'))) : limit;
  if (end === 0) return 0;
  const exact = Math.floor(request + (end - request) * settings.memoryThrottlingFactor);
  return Math.trunc(exact / settings.pageSize) * settings.pageSize;
}
