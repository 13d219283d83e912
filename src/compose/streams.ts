/** The endpoints of streams and logs. */
import { join } from 'node:path';
import type { ContainerId } from '../api/ids.ts';
import type { Config } from '../config/config.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { Running } from '../runtime/running.ts';
import { createLogRoutes } from '../server/logs/logs.ts';
import { findPod, followContainer, type PodsPort } from '../server/pods-port.ts';
import type { Route } from '../server/routes.ts';
import { createCheckpointRoute } from '../server/streams/checkpoint.ts';
import type { ServedPod } from '../server/streams/served-pods.ts';
import { createStreamRoutes } from '../server/streams/streams.ts';
import type { PartDeps } from './compose.ts';

/** Where services of the node write their logs. */
const NODE_LOGS = '/var/log';

export interface StreamTools {
  readonly served: PodsPort;
  readonly cri: CriClient;
  readonly running: Running;
}

export function composeStreams(
  config: Config,
  deps: PartDeps,
  { served, cri, running }: StreamTools,
): readonly Route[] {
  const { features, kubelet, settings } = config;
  const { clock, log, host, surroundings } = deps;
  const pods = {
    find: (namespace: string, name: string) => findPod(served, namespace, name),
    runningContainer: running.container,
    readySandbox: running.sandbox,
  };
  const checkpoints = { clock, pods, checkpoint: cri.containers.checkpoint };
  const logs = {
    clock,
    log: log.named('server/logs'),
    inotify: host.files.inotify,
    files: host.files.guarded,
    pods,
    environment: surroundings?.environment ?? {},
    runtime: {
      logPath: async (id: string, signal: AbortSignal) =>
        (await cri.containers.status(id, {}, signal))?.status?.logPath,
      follow: (pod: ServedPod, id: ContainerId) => followContainer(served, pod.uid, id),
    },
  };
  return [
    ...createStreamRoutes({ pods, runtime: cri.streams }),
    ...(features.enabled('ContainerCheckpoint')
      ? [createCheckpointRoute(checkpoints, join(settings.directories.root, 'checkpoints'))]
      : []),
    ...createLogRoutes(logs, {
      splitStreams: features.enabled('PodLogsQuerySplitStreams'),
      podLogs: kubelet.podLogsDir,
      nodeLogs: { directory: NODE_LOGS, query: features.enabled('NodeLogQuery') && kubelet.enableSystemLogQuery },
    }),
  ];
}
