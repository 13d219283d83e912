/** The pods for the server: found by name for streams and logs, listed for `/pods`, followed while a log is read. */
import { type ContainerId, type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { PodStatus } from '../api/pod-status.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import type { PodUpdate, PodView } from '../model/pod-view.ts';
import type { ServedPod } from './streams/served-pods.ts';

export interface PodsPort {
  readonly pods: {
    views(): readonly PodView[];
    view(uid: PodUid): PodView | undefined;
    desired(): { readonly pods: readonly Pod[] } | undefined;
    subscribe(name: string, listener: (update: PodUpdate) => void): () => void;
  };
  readonly statuses: { get(uid: PodUid): PodStatus | undefined };
  /** The UID of a static pod at the API server. */
  readonly mirrorUid: (namespace: string, name: string) => string | undefined;
}

export function findPod(
  { pods, statuses, mirrorUid }: PodsPort,
  namespace: string,
  name: string,
): ServedPod | undefined {
  // A new pod has no view yet.
  const pod = findView(pods, namespace, name)?.pod ?? pods.desired()?.pods.find(isCalled(namespace, name));
  if (pod === undefined) return undefined;
  const uid = podUid(pod.metadata.uid);
  return {
    uid,
    pod,
    ...(isStaticPod(pod) && { mirrorUid: mirrorUid(namespace, name) }),
    status: statuses.get(uid) ?? pod.status,
  };
}

const isCalled =
  (namespace: string, name: string) =>
  ({ metadata }: Pod): boolean =>
    metadata.name === name && metadata.namespace === namespace;

/** A terminating pod may have a successor of the same name. */
export function findView(pods: Pick<PodsPort['pods'], 'views'>, namespace: string, name: string): PodView | undefined {
  const called = pods.views().filter(({ pod }) => isCalled(namespace, name)(pod));
  return called.find(({ step }) => step === 'syncing') ?? called[0];
}

/** As the sources have them, with the statuses computed here. */
export function listPods({ pods, statuses }: Pick<PodsPort, 'pods' | 'statuses'>): readonly Pod[] {
  return pods
    .views()
    .filter(({ pod }) => pod.spec.containers.length > 0)
    .map(({ uid, pod, asked = pod }) => ({ ...asked, status: statuses.get(uid) ?? pod.status ?? {} }) as Pod);
}

/** The views of the listed pods, each with its pod as `listPods` has it. */
export function listViews(port: Pick<PodsPort, 'pods' | 'statuses'>): readonly PodView[] {
  const listed = new Map(listPods(port).map((pod) => [pod.metadata.uid, pod]));
  return port.pods.views().flatMap((view) => {
    const pod = listed.get(view.uid);
    return pod === undefined ? [] : [{ ...view, pod }];
  });
}

/** From the last pass of the pod's worker: a container that the runtime does not list has ended. */
export function followContainer({ pods }: Pick<PodsPort, 'pods'>, uid: PodUid, id: ContainerId) {
  return {
    isRunning: () => {
      const state = pods.view(uid)?.observation.containers.find((container) => container.id === id)?.state;
      return state === 'running' || state === 'created' || state === 'unknown';
    },
    onChange: (listener: () => void) =>
      pods.subscribe('streams', (update) => {
        if ((update.kind === 'gone' ? update.uid : update.view.uid) === uid) listener();
      }),
  };
}
