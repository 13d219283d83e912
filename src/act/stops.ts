/** The stops of one pod that are under way. A container is stopped once; another request can only shorten its grace. */
import type { ContainerId } from '../api/ids.ts';
import { type ContainerStop, type ContainerStopDeps, type StopUnderWay, stopContainer } from './container-stop.ts';

export interface Stops {
  /** Resolves when the container has stopped. */
  request(stop: Omit<ContainerStop, 'after'>, after: readonly ContainerId[], signal: AbortSignal): Promise<void>;
  underWay(): number;
}

export function createStops(deps: ContainerStopDeps): Stops {
  const stops = new Map<ContainerId, StopUnderWay>();
  const stopped = new Set<ContainerId>();
  return {
    request: (stop, after, signal) => {
      // Its hook and its event are over; the runtime only does not report yet that it has ended.
      if (stopped.has(stop.id)) return deps.runtime.containers.stop(stop.id, 0, signal);
      const running = stops.get(stop.id);
      if (running !== undefined) {
        running.shorten(stop.graceSeconds);
        return running.done;
      }
      const before = after.map((id) => stops.get(id)?.done).filter((done) => done !== undefined);
      const begun = stopContainer(deps, { ...stop, after: before }, signal);
      stops.set(stop.id, begun);
      begun.done.then(
        () => {
          stops.delete(stop.id);
          stopped.add(stop.id);
        },
        () => stops.delete(stop.id),
      );
      return begun.done;
    },
    underWay: () => stops.size,
  };
}
