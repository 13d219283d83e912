import type { Container } from '../../api/container.ts';
import type { StringMap } from '../../api/meta.ts';
import type { Pod } from '../../api/pod.ts';
import { quantityOf } from '../../api/pod-resources.ts';
import type { QosClass } from '../../api/pod-status.ts';
import { isCriticalPod } from '../../api/pod-traits.ts';
import { quantityValue } from '../../api/quantity.ts';
import type { Gates, ResourceSettings } from './settings.ts';

export interface SwapInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly qosClass: QosClass;
  /** Bytes; 0 stands for none. */
  readonly memoryLimit: number;
  readonly settings: ResourceSettings;
  readonly gates: Gates;
}

export interface SwapLimit {
  /** cgroup v1: memory and swap together, so the memory limit itself means no swap. 0: not set. */
  readonly bytes: number;
  readonly unified: StringMap;
}

export function swapLimit(input: SwapInput): SwapLimit {
  const { settings, memoryLimit } = input;
  if (!settings.swapController) return { bytes: 0, unified: {} };
  if (settings.cgroupVersion === 1) return { bytes: memoryLimit, unified: {} };
  return { bytes: 0, unified: { 'memory.swap.max': String(swapShare(input)) } };
}

/** Swap in proportion to the memory that a burstable container asks for; all others get none. */
function swapShare({ pod, container, qosClass, settings, gates }: SwapInput): number {
  if (settings.swapBehavior !== 'LimitedSwap' || !gates('NodeSwap')) return 0;
  if (isCriticalPod(pod) || qosClass !== 'Burstable') return 0;
  const request = quantityValue(quantityOf(container.resources?.requests, 'memory'));
  const limit = quantityValue(quantityOf(container.resources?.limits, 'memory'));
  if (request === limit || request > settings.memoryCapacity) return 0;
  return Math.trunc((Number(request) / Number(settings.memoryCapacity)) * Number(settings.swapCapacity));
}
