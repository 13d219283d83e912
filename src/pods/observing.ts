/** How a worker observes its pod, and what that shows about when the pod started. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { parseTimestamp } from '../api/timestamp.ts';
import { emptyObservation, type Observation } from '../model/observation.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface Observing {
  readonly uid: PodUid;
  /** When a kubelet of this node first had the pod. */
  readonly acknowledgedAt: number;
  startedAt(): number;
  /** Nothing of the pod, without a call to the runtime. */
  nothing(): Observation;
  read(signal: AbortSignal): Promise<Observation>;
  /** The runtime or the worker may have changed something of the pod. */
  noteChange(): void;
  /**
   * What was read last, where it shows a running container and nothing can have changed since. To stop the pod, no read is needed then:
   * whatever is left is found by the read after the stop.
   */
  unchanged(): Observation | undefined;
}

export interface ObservingStart {
  readonly pod: Pod;
  readonly isNew: boolean;
  readonly begins: boolean;
}

export function createObserving(
  { clock, observe }: Pick<WorkerDeps, 'clock' | 'observe'>,
  { pod, isNew, begins }: ObservingStart,
): Observing {
  const { name, namespace } = pod.metadata;
  const uid = podUid(pod.metadata.uid);
  const acknowledgedAt = publishedStart(pod) ?? clock.now();
  let startedAt = begins ? acknowledgedAt : publishedStart(pod);
  // A pod of which nothing was found on the node needs no read before its first steps. If something does exist, the runtime refuses
  // a second sandbox of the same name, and the next pass reads.
  let mayExist = !isNew;
  let last: Observation | undefined;
  let current = { isOld: false };

  const nothing = () => emptyObservation(uid, name, namespace, clock.mono());

  return {
    uid,
    acknowledgedAt,
    startedAt: () => startedAt ?? acknowledgedAt,
    nothing,
    read: async (signal) => {
      if (!mayExist) {
        mayExist = true;
        startedAt ??= clock.now();
        return nothing();
      }
      const reading = { isOld: false };
      current = reading;
      const observation = await observe.read({ uid, name, namespace }, signal);
      last = reading.isOld ? undefined : observation;
      startedAt ??= Math.min(clock.now(), ...observation.sandboxes.map(({ createdAt }) => createdAt));
      return observation;
    },
    noteChange: () => {
      last = undefined;
      current.isOld = true;
    },
    unchanged: () => (last !== undefined && isStable(last) ? last : undefined),
  };
}

function isStable({ containers, announced, lookAgainAt }: Observation): boolean {
  return announced === undefined && lookAgainAt === undefined && containers.some(({ state }) => state === 'running');
}

/** When an earlier kubelet first had the pod, as it reported to the API server. */
function publishedStart({ status }: Pod): number | undefined {
  return status?.startTime === undefined ? undefined : parseTimestamp(status.startTime);
}
