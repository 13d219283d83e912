/** What the endpoints of streams and logs need to know of pods and their containers. */
import { join } from 'node:path';
import { type ContainerId, containerId, type PodUid, podUid, type SandboxId, sandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { isStaticPod } from '../api/pod-traits.ts';
import type { Config } from '../config/config.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { CONTAINER_NAME, POD_UID } from '../runtime/spec/labels.ts';
import { createLogRoutes } from '../server/logs/logs.ts';
import type { Route } from '../server/routes.ts';
import { createCheckpointRoute } from '../server/streams/checkpoint.ts';
import type { ServedPod, ServedPods } from '../server/streams/served-pods.ts';
import { createStreamRoutes } from '../server/streams/streams.ts';
import { ContainerState, PodSandboxState } from '../wire/gen/cri-runtime-v1.ts';
import type { PartDeps } from './compose.ts';
import type { PodParts } from './pods.ts';

/** Where services of the node write their logs. */
const NODE_LOGS = '/var/log';

type Parts = Pick<PodParts, 'pods' | 'statuses'>;

interface StreamTools {
  readonly parts: Parts;
  readonly cri: CriClient;
  readonly mirrorUid: (namespace: string, name: string) => string | undefined;
}

export function composeStreams(
  { features, kubelet, settings }: Config,
  { clock, log, host, surroundings }: PartDeps,
  { parts, cri, mirrorUid }: StreamTools,
): readonly Route[] {
  const pods = createServedPods({ parts, cri, mirrorUid });
  return [
    ...createStreamRoutes({ pods, runtime: cri.streams }),
    ...(features.enabled('ContainerCheckpoint')
      ? [
          createCheckpointRoute(
            { clock, pods, checkpoint: cri.containers.checkpoint },
            join(settings.directories.root, 'checkpoints'),
          ),
        ]
      : []),
    ...createLogRoutes(
      {
        clock,
        log: log.named('server/logs'),
        inotify: host.inotify,
        files: host.files,
        pods,
        environment: surroundings?.environment ?? {},
        runtime: {
          logPath: async (id, signal) => (await cri.containers.status(id, {}, signal))?.status?.logPath,
          follow: (pod, id) => followContainer(parts, pod.uid, id),
        },
      },
      {
        splitStreams: features.enabled('PodLogsQuerySplitStreams'),
        podLogs: kubelet.podLogsDir,
        nodeLogs: {
          folder: NODE_LOGS,
          query: features.enabled('NodeLogQuery') && kubelet.enableSystemLogQuery,
        },
      },
    ),
  ];
}

function createServedPods({ parts: { pods, statuses }, cri, mirrorUid }: StreamTools): ServedPods {
  return {
    find: (namespace, name): ServedPod | undefined => {
      const isMeant = ({ metadata }: Pod) => metadata.name === name && metadata.namespace === namespace;
      const called = pods.views().filter(({ pod }) => isMeant(pod));
      // One that ends may have a successor of the same name, and one that just came has no view yet.
      const view = called.find(({ step }) => step === 'syncing') ?? called[0];
      const pod = view?.pod ?? pods.desired()?.pods.find(isMeant);
      const uid = podUid(pod?.metadata.uid ?? '');
      return (
        pod && {
          uid,
          pod,
          ...(isStaticPod(pod) && { mirrorUid: mirrorUid(namespace, name) }),
          status: statuses.get(uid) ?? pod.status,
        }
      );
    },
    runningContainer: (uid, name, signal) => runningContainer(cri, uid, name, signal),
    readySandbox: (uid, signal) => readySandbox(cri, uid, signal),
  };
}

const newestFirst = (one: { createdAt: bigint }, other: { createdAt: bigint }): number =>
  Number(other.createdAt - one.createdAt);

async function runningContainer(
  cri: CriClient,
  uid: PodUid,
  name: string,
  signal: AbortSignal,
): Promise<ContainerId | undefined> {
  const state = { state: ContainerState.CONTAINER_RUNNING };
  const found = await cri.containers.list({ state, labelSelector: { [POD_UID]: uid, [CONTAINER_NAME]: name } }, signal);
  const [newest] = found.toSorted(newestFirst);
  return newest && containerId(newest.id);
}

async function readySandbox(cri: CriClient, uid: PodUid, signal: AbortSignal): Promise<SandboxId | undefined> {
  const state = { state: PodSandboxState.SANDBOX_READY };
  const found = await cri.sandboxes.list({ state, labelSelector: { [POD_UID]: uid } }, signal);
  const [newest] = found.toSorted(newestFirst);
  return newest && sandboxId(newest.id);
}

/** By what the worker of the pod has seen last: a container that the runtime does not tell of has ended. */
function followContainer({ pods }: Parts, uid: PodUid, id: ContainerId) {
  return {
    isRunning: () => {
      const state = pods.view(uid)?.observation.containers.find((container) => container.id === id)?.state;
      return state === 'running' || state === 'created' || state === 'unknown';
    },
    onChange: (listener: () => void) =>
      pods.subscribe('streams', (news) => {
        if ((news.kind === 'gone' ? news.uid : news.view.uid) === uid) listener();
      }),
  };
}
