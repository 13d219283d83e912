/** The logs of containers: their directories and links, and the rotation of those that running containers write. */
import type { Config } from '../config/config.ts';
import type { PodView } from '../model/pod-view.ts';
import { CONTAINER_LOGS_DIRECTORY } from '../node/data-directories.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { createLogs, type Logs } from '../runtime/logs/logs.ts';
import { createLogRotation, type LogRotation } from '../runtime/logs/rotation.ts';
import { logRotationConfig } from '../runtime/settings.ts';
import type { PartDeps } from './compose.ts';

export interface NodeLogs {
  readonly logs: Logs;
  /** Starts after the pods, whose views it reads. */
  readonly part: LogRotation;
}

export interface LogTools {
  readonly cri: CriClient;
  readonly views: () => readonly PodView[];
  readonly removeTree: (path: string) => Promise<void>;
}

export function composeLogs(config: Config, deps: PartDeps, { cri, views, removeTree }: LogTools): NodeLogs {
  const { clock, log, supervisor, places, host } = deps;
  const containerLogs = places?.containerLogs ?? CONTAINER_LOGS_DIRECTORY;
  const logs = createLogs(
    { files: host.files.guarded, removeTree },
    { podLogs: config.kubelet.podLogsDir, containerLogs },
  );
  const rotation = createLogRotation(
    {
      clock,
      log: log.named('runtime/logs'),
      supervisor,
      files: host.files.guarded,
      reopen: cri.containers.reopenLog,
      containers: () => views().flatMap(({ observation }) => observation.containers),
    },
    logRotationConfig(config),
  );
  const start = async (signal: AbortSignal): Promise<void> => {
    await logs.sweepLinks();
    await rotation.start(signal);
  };
  return { logs, part: { ...rotation, start } };
}
