/**
 * A container is started again before the runtime has cleaned up the last one: the event of its end comes some 50 ms before the
 * runtime's status shows it. The event is used to start containers, and for nothing else: status, stops and removals wait for the
 * runtime's status.
 */
import type { Pod } from '../api/pod.ts';
import type { AnnouncedEnd, Observation, ObservedContainer } from '../model/observation.ts';
import type { Plan } from '../model/plan.ts';
import { computePlan } from './compute-plan.ts';
import type { Snapshot } from './snapshot.ts';

export interface Decision {
  readonly plan: Plan;
  /** What the plan was computed from: the runtime's status, with the ends that only its events show. */
  readonly observation: Observation;
  /** The runtime's status does not show yet all that the plan was computed from. */
  readonly ahead: boolean;
}

export function decide(snapshot: Snapshot): Decision {
  const observation = anticipate(snapshot.pod, snapshot.observation);
  const ahead = observation !== snapshot.observation;
  const plan = computePlan({ ...snapshot, observation });
  return { plan: ahead && needsLastWord(plan) ? waiting(plan, snapshot) : plan, observation, ahead };
}

const KILLED = 137;
/** Containerd's exit code where it does not know it. */
const NOT_KNOWN = 255;

/**
 * Whether the event is as reliable as the runtime's status. A container that was killed may have ended with its whole pod, because its
 * shim died: then its exit code is a guess, and the sandbox will be observed as not ready.
 */
export function isLastWord({ exitCode, finishedAt }: AnnouncedEnd): boolean {
  return exitCode >= 0 && exitCode < NOT_KNOWN && exitCode !== KILLED && finishedAt > 0;
}

/** The observation itself where events show nothing more. */
function anticipate(pod: Pod, observation: Observation): Observation {
  const { announced } = observation;
  // In a process namespace of its own a container's other processes end before its first one; in a shared one they may still go.
  if (announced === undefined || pod.spec.hostPID === true || pod.spec.shareProcessNamespace === true) {
    return observation;
  }
  const containers = observation.containers.map((container) => withEnd(container, announced.get(container.id)));
  return containers.every((container, index) => container === observation.containers[index])
    ? observation
    : { ...observation, containers };
}

function withEnd(container: ObservedContainer, end: AnnouncedEnd | undefined): ObservedContainer {
  if (end === undefined || container.state !== 'running' || !isLastWord(end)) return container;
  const { exitCode, finishedAt } = end;
  return { ...container, state: 'exited', exitCode, finishedAt, reason: exitCode === 0 ? 'Completed' : 'Error' };
}

/**
 * The pod is over, or the plan does more than start containers: the runtime may still hold what would be removed, and the reason
 * of a stop is published before the stop.
 */
function needsLastWord({ actions, finished }: Plan): boolean {
  return finished || actions.some(({ kind }) => kind !== 'container-start');
}

function waiting(plan: Plan, { crashes }: Snapshot): Plan {
  return { ...plan, actions: [], events: [], waiting: new Map(), held: new Map(), crashes, finished: false };
}
