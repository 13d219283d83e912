/**
 * In which order the containers of an ending pod stop: all side by side, except that a sidecar serves the others to the
 * end: it waits for the regular containers and for every sidecar that started after it.
 */
import type { ContainerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { ObservedContainer } from '../model/observation.ts';
import { roleOf } from './roles.ts';

export interface OrderedStop {
  readonly container: ObservedContainer;
  readonly after: readonly ContainerId[];
}

/** A container whose state is unknown may well run. */
export function mayRun({ state }: ObservedContainer): boolean {
  return state === 'running' || state === 'unknown';
}

/** A container never comes before one that it waits for. */
export function orderStops(pod: Pod | undefined, containers: readonly ObservedContainer[]): readonly OrderedStop[] {
  const running = containers.filter(mayRun).map((container) => ({ container, role: roleOf(pod, container.name).role }));
  const places = new Map((pod?.spec.initContainers ?? []).map(({ name }, index) => [name, index]));
  const served = running.filter(({ role }) => role === 'regular').map(({ container: { id } }) => id);
  const sidecars = running
    .filter(({ role }) => role === 'sidecar')
    .map(({ container: { id, name } }) => ({ id, place: places.get(name) ?? -1 }));
  const stops = running.map(({ container, role }): OrderedStop => {
    if (role !== 'sidecar') return { container, after: [] };
    const own = places.get(container.name) ?? -1;
    const later = sidecars.filter(({ place }) => place > own);
    return { container, after: [...served, ...later.map(({ id }) => id)] };
  });
  // A container that waits for another also waits for all that the other waits for: by their number they are in order.
  return stops.toSorted((left, right) => left.after.length - right.after.length);
}
