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
      const observation = await observe.read({ uid, name, namespace }, signal);
      startedAt ??= Math.min(clock.now(), ...observation.sandboxes.map(({ createdAt }) => createdAt));
      return observation;
    },
  };
}

/** When an earlier kubelet first had the pod, as it reported to the API server. */
function publishedStart({ status }: Pod): number | undefined {
  return status?.startTime === undefined ? undefined : parseTimestamp(status.startTime);
}
