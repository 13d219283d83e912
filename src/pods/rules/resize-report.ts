/** What is reported of resizes: the messages of events, and the requests that metrics count. */
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import { quantityOf } from '../../api/pod-resources.ts';
import { compareQuantities, type Quantity } from '../../api/quantity.ts';
import { escapeJson } from '../../base/go-text.ts';
import { type Allocation, resourcesOf } from '../../model/allocation.ts';

export interface ResizeSummary {
  /** Such as `Pod resize started`. */
  readonly title: string;
  readonly generation: number;
  readonly error?: string | undefined;
}

/** The resources of the pod, in the form that tools parse. */
export function resizeMessage({ spec }: Pod, { title, generation, error }: ResizeSummary): string {
  const summary = (containers: readonly Container[] = []) =>
    containers.length === 0 ? undefined : containers.map(({ name, resources = {} }) => ({ name, resources }));
  const request = {
    initContainers: summary(spec.initContainers),
    containers: summary(spec.containers),
    generation,
    error,
  };
  return `${title}: ${escapeJson(JSON.stringify(request))}`;
}

export type ResizeOperation = 'add' | 'remove' | 'increase' | 'decrease';

export interface RequestedResize {
  readonly resource: 'cpu' | 'memory';
  readonly requirement: 'requests' | 'limits';
  readonly operation: ResizeOperation;
}

/** What changed from one spec of a pod to the next, for each container. */
export function requestedResizes(before: Allocation, after: Allocation): readonly RequestedResize[] {
  return Object.entries(after.containers).flatMap(([name, resources]) => {
    const old = resourcesOf(before, name);
    if (old === undefined || old === resources) return [];
    return (['memory', 'cpu'] as const).flatMap((resource) =>
      (['requests', 'limits'] as const).flatMap((requirement): readonly RequestedResize[] => {
        const operation = operationOf(
          quantityOf(old[requirement], resource),
          quantityOf(resources[requirement], resource),
        );
        return operation === undefined ? [] : [{ resource, requirement, operation }];
      }),
    );
  });
}

function operationOf(before: Quantity, after: Quantity): ResizeOperation | undefined {
  const difference = compareQuantities(after, before);
  if (difference === 0) return undefined;
  if (after.nanos === 0n) return 'remove';
  if (before.nanos === 0n) return 'add';
  return difference < 0 ? 'decrease' : 'increase';
}
