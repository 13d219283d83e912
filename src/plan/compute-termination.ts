/** The actions for a pod that must end: its containers stop in order, then its sandboxes; in the end all are removed. */
import type { Pod } from '../api/pod.ts';
import type { Observation } from '../model/observation.ts';
import type { Action } from '../model/plan.ts';
import { roleOf } from './roles.ts';
import { mayRun, orderStops } from './stop-order.ts';

export interface TerminationState {
  /** Undefined for a pod that only the runtime still has. */
  readonly pod?: Pod | undefined;
  readonly observation: Observation;
  /** Wall clock, milliseconds. */
  readonly now: number;
}

export interface TerminationTerms {
  /** For all of it, counted from `since`; it may shrink while the pod ends (see `shrinkGrace`). */
  readonly graceSeconds: number;
  /** When the pod began to end, wall clock, milliseconds. */
  readonly since: number;
}

export interface Termination {
  /** To carry out like the actions of a plan. */
  readonly actions: readonly Action[];
  /** Nothing runs any more and no sandbox is ready. */
  readonly finished: boolean;
}

export function computeTermination(state: TerminationState, terms: TerminationTerms): Termination {
  const { pod, observation, now } = state;
  const left = Math.max(0, terms.graceSeconds - Math.max(0, now - terms.since) / 1000);
  const stops = orderStops(pod, observation.containers).map(
    ({ container: { id, name }, after }): Action => ({
      kind: 'container-stop',
      id,
      name,
      role: roleOf(pod, name).role,
      message: `Stopping container ${name}`,
      reason: 'Unknown',
      graceSeconds: left,
      // Without grace left no container waits for another.
      ...(after.length === 0 || left === 0 ? {} : { after }),
    }),
  );
  const sandboxes = observation.sandboxes
    .filter(({ ready }) => ready)
    .map(({ id }): Action => ({ kind: 'sandbox-stop', id, reason: 'the pod ends' }));
  return { actions: [...stops, ...sandboxes], finished: stops.length === 0 && sandboxes.length === 0 };
}

/** Removes all that the runtime still has of a pod that is over. What may still run is not removed: stop it first. */
export function computeRemoval({ containers, sandboxes }: Observation, reason = 'the pod is gone'): readonly Action[] {
  const idle = containers.filter((container) => !mayRun(container));
  const busy = new Set(containers.filter(mayRun).map(({ sandboxId }) => sandboxId));
  return [
    ...idle.map(({ id, name }): Action => ({ kind: 'container-remove', id, name, reason })),
    ...sandboxes
      .filter(({ id, ready }) => !ready && !busy.has(id))
      .map(({ id }): Action => ({ kind: 'sandbox-remove', id, reason })),
  ];
}
