/**
 * A container's next start need not wait until the runtime has cleared the last one away: its event of the end comes some
 * 50 ms before its status says so. What the event told is used to start containers, and for nothing else: whatever is shown,
 * stopped or removed waits for the runtime's own word.
 */
import type { Pod } from '../api/pod.ts';
import type { AnnouncedEnd, Observation, ObservedContainer } from '../model/observation.ts';
import type { Plan } from '../model/plan.ts';
import { computePlan } from './compute-plan.ts';
import type { Snapshot } from './snapshot.ts';

export interface Decision {
  readonly plan: Plan;
  /** What the plan was made of: what the runtime said, and what its events told besides. */
  readonly observation: Observation;
  /** The runtime has not said yet all that the plan was made of. */
  readonly ahead: boolean;
}

export function decide(snapshot: Snapshot): Decision {
  const observation = anticipate(snapshot.pod, snapshot.observation);
  const ahead = observation !== snapshot.observation;
  const plan = computePlan({ ...snapshot, observation });
  return { plan: ahead && needsLastWord(plan) ? waiting(plan, snapshot) : plan, observation, ahead };
}

const KILLED = 137;
/** What containerd says where it can't tell. */
const NOT_KNOWN = 255;

/**
 * Whether the event is as good as the runtime's word. A container that was killed may have gone with its whole pod, when the
 * process that held it died; then its exit code is a guess too, and the sandbox is about to be found dead.
 */
export function isLastWord({ exitCode, finishedAt }: AnnouncedEnd): boolean {
  return exitCode >= 0 && exitCode < NOT_KNOWN && exitCode !== KILLED && finishedAt > 0;
}

/** The observation itself where events told nothing more. */
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
 * The pod is over, or more is done than to start something: the runtime may still hold what would be removed, and others are
 * told why something stops before it does.
 */
function needsLastWord({ actions, finished }: Plan): boolean {
  return finished || actions.some(({ kind }) => kind !== 'container-start');
}

function waiting(plan: Plan, { crashes }: Snapshot): Plan {
  return { ...plan, actions: [], events: [], waiting: new Map(), held: new Map(), crashes, finished: false };
}
