/** The endpoints for logs: of containers (`/containerLogs`) and of the node (`/logs/`). */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { GuardedFiles } from '../../host/guarded-files.ts';
import type { Inotify } from '../../host/inotify.ts';
import type { Route } from '../routes.ts';
import type { ServedPods } from '../streams/served-pods.ts';
import { createContainerLogRoute, type LoggingRuntime } from './container-logs.ts';
import { createLogWatches } from './log-watch.ts';
import { createNodeLogRoute, type NodeLogConfig, type NodeLogDeps } from './node-logs.ts';
import { createReadBuffers } from './read-buffers.ts';

export interface LogDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly inotify: Inotify;
  readonly files: GuardedFiles;
  readonly pods: ServedPods;
  readonly runtime: LoggingRuntime;
  /** The environment of programs that read logs. */
  readonly environment: NodeLogDeps['environment'];
}

export interface LogConfig {
  readonly nodeLogs: NodeLogConfig;
  /** `podLogsDir`. */
  readonly podLogs: string;
  /** The gate PodLogsQuerySplitStreams. */
  readonly splitStreams: boolean;
}

export function createLogRoutes(deps: LogDeps, config: LogConfig): readonly Route[] {
  const place = { files: deps.files, podLogs: config.podLogs };
  const shared = { ...deps, place, buffers: createReadBuffers(), watches: createLogWatches(deps) };
  return [createContainerLogRoute({ ...shared, ...config }), createNodeLogRoute(deps, config.nodeLogs)];
}
