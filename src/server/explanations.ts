/** The answer to "why is my pod not starting": what its worker explains, and what is known of it at this moment. */
import type { PodUid } from '../api/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { DownloadProgress, ExplainedPod, ExplainedStep, NotReady } from '../model/explanation.ts';
import { blockingStep, describeStep, downloadOf, type LayerProgress } from '../plan/blocking.ts';
import { findView, type PodsPort } from './pods-port.ts';

export interface ExplanationsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly served: Pick<PodsPort, 'pods' | 'statuses'>;
  /** What the runtime downloads for this image now; undefined where it does not report that. */
  readonly downloadsOf: (image: string, signal: AbortSignal) => Promise<readonly LayerProgress[] | undefined>;
  /** The last answers of probes that failed, by container. */
  readonly failedProbes: (
    uid: PodUid,
  ) => readonly { readonly container: string; readonly message: string; readonly at: number }[];
}

/** Undefined: the kubelet does not have the pod. */
export type Explain = (namespace: string, name: string, signal: AbortSignal) => Promise<ExplainedPod | undefined>;

export function createExplain({ clock, served, downloadsOf, failedProbes }: ExplanationsDeps): Explain {
  const download = async (
    step: ExplainedStep | undefined,
    signal: AbortSignal,
  ): Promise<DownloadProgress | undefined> => {
    if (step?.subject.kind !== 'image' || step.state.kind !== 'under-way') return undefined;
    // Without an answer of the runtime there is still the step.
    return downloadOf(await downloadsOf(step.subject.image, signal).catch(() => undefined), clock.now());
  };
  const notReady = (uid: PodUid): readonly NotReady[] => {
    const failed = failedProbes(uid);
    const running = (served.statuses.get(uid)?.containerStatuses ?? []).filter(
      ({ ready, state }) => !ready && state?.running !== undefined,
    );
    return running.map(({ name }) => {
      const last = failed.findLast(({ container }) => container === name);
      return { container: name, ...(last && { lastAnswer: last.message, at: last.at }) };
    });
  };
  return async (namespace, name, signal) => {
    const view = findView(served.pods, namespace, name);
    if (view?.explanation === undefined) return explainUnbegun(served, namespace, name);
    const { explanation, uid } = view;
    const blocking = blockingStep(explanation);
    const progress = await download(blocking, signal);
    const waiting = notReady(uid);
    const now = clock.now();
    return {
      ...explanation,
      summary: blocking === undefined ? readyText(waiting, now) : describeStep(blocking, { now, download: progress }),
      ...(blocking && { blocking }),
      ...(progress && { download: progress }),
      ...(waiting.length > 0 && { notReady: waiting }),
    };
  };
}

/** Without the runtime no pod is begun with, because no one knows what runs already. */
function explainUnbegun({ pods }: Pick<PodsPort, 'pods'>, namespace: string, name: string): ExplainedPod | undefined {
  const pod = pods.desired()?.pods.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (pod === undefined) return undefined;
  const { uid } = pod.metadata;
  const summary =
    'the kubelet has not begun with this pod: it is just starting, or the container runtime does not answer';
  return { pod: { uid, namespace, name }, step: 'syncing', steps: [], summary };
}

function readyText(waiting: readonly NotReady[], now: number): string {
  const [first] = waiting;
  if (first === undefined) return 'nothing holds the pod up';
  const { container, lastAnswer, at = now } = first;
  const seconds = Math.max(Math.round((now - at) / 1000), 0);
  const why = lastAnswer === undefined ? 'its probes have not succeeded yet' : `${lastAnswer} (${seconds} s ago)`;
  return `container "${container}" runs and is not ready: ${why}`;
}
