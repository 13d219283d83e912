/** Resizes that this node can never carry out. */
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { quantityOf } from '../../api/pod-resources.ts';
import { isCriticalPod } from '../../api/pod-traits.ts';
import { qosClassOf } from '../../api/qos-class.ts';
import { compareQuantities } from '../../api/quantity.ts';

export interface Infeasible {
  readonly message: string;
  /** One word for metrics. */
  readonly detail: string;
}

export interface FeasibilitySettings {
  /** Burstable containers get swap in proportion to the memory that they request. */
  readonly limitedSwap: boolean;
  readonly podLevel: boolean;
  /** Guaranteed pods have CPUs or memory of their own, and keep what they were started with. */
  readonly pinsCpus?: boolean;
  readonly pinsMemory?: boolean;
}

/** The managers do not give a running container other CPUs or other memory. */
function pinnedResize(requested: Pod, allocated: Pod, settings: FeasibilitySettings): Infeasible | undefined {
  if (qosClassOf(requested, settings) !== 'Guaranteed') return undefined;
  const before = new Map(containersOf(allocated).map((container) => [container.name, container]));
  const changes = (name: 'cpu' | 'memory') =>
    containersOf(requested).some((container) => {
      const old = before.get(container.name)?.resources;
      return (['requests', 'limits'] as const).some(
        (kind) => compareQuantities(quantityOf(old?.[kind], name), quantityOf(container.resources?.[kind], name)) !== 0,
      );
    });
  const refuse = (manager: string, policy: string, detail: string): Infeasible => ({
    message: `Resize is infeasible for Guaranteed Pods alongside ${manager} policy "${policy}"`,
    detail,
  });
  if (settings.pinsCpus === true && changes('cpu'))
    return refuse('CPU Manager', 'static', 'guaranteed_pod_cpu_manager_static_policy');
  if (settings.pinsMemory === true && changes('memory'))
    return refuse('Memory Manager', 'Static', 'guaranteed_pod_memory_manager_static_policy');
  return undefined;
}

/** The share of swap follows the requested memory, and can't be changed while a container runs. */
export function infeasibleResize(
  requested: Pod,
  allocated: Pod,
  settings: FeasibilitySettings,
): Infeasible | undefined {
  return swapResize(requested, allocated, settings) ?? pinnedResize(requested, allocated, settings);
}

function swapResize(requested: Pod, allocated: Pod, settings: FeasibilitySettings): Infeasible | undefined {
  if (!settings.limitedSwap) return undefined;
  const before = new Map(containersOf(allocated).map((container) => [container.name, container]));
  const isAgainst = (container: Container): boolean => {
    const old = before.get(container.name);
    if (old === undefined || restartsForMemory(old) || sameMemoryRequest(old, container)) return false;
    return usesSwap(requested, container, settings) || usesSwap(allocated, old, settings);
  };
  if (!containersOf(requested).some(isAgainst)) return undefined;
  return { message: 'In-place resize of containers with swap is not supported.', detail: 'swap_limitation' };
}

const containersOf = ({ spec }: Pod): readonly Container[] => [...spec.containers, ...(spec.initContainers ?? [])];

function restartsForMemory({ resizePolicy = [] }: Container): boolean {
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) => resourceName === 'memory' && restartPolicy === 'RestartContainer',
  );
}

const memoryRequest = ({ resources }: Container) => quantityOf(resources?.requests, 'memory');

function sameMemoryRequest(left: Container, right: Container): boolean {
  return compareQuantities(memoryRequest(left), memoryRequest(right)) === 0;
}

function usesSwap(pod: Pod, container: Container, { podLevel }: FeasibilitySettings): boolean {
  if (isCriticalPod(pod) || qosClassOf(pod, { podLevel }) !== 'Burstable') return false;
  // None requested and none limited is the same amount too.
  return compareQuantities(memoryRequest(container), quantityOf(container.resources?.limits, 'memory')) !== 0;
}
