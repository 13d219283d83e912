/** The logs of containers: their folders and links, and the rotation of those that running containers write. */
import { parseQuantity, quantityValue } from '../api/quantity.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import type { PodView } from '../model/pod-view.ts';
import { CONTAINER_LOGS_DIRECTORY } from '../node/data-directories.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { createLogs, type Logs } from '../runtime/logs/logs.ts';
import { createLogRotation } from '../runtime/logs/rotation.ts';
import type { PartDeps } from './compose.ts';

export interface NodeLogs {
  readonly logs: Logs;
  /** Starts after the pods, whose views it reads. */
  readonly part: Part;
}

export function composeLogs(
  { kubelet }: Config,
  { clock, log, host, supervisor, places }: PartDeps,
  tools: {
    readonly cri: CriClient;
    readonly views: () => readonly PodView[];
    readonly removeTree: (path: string) => Promise<void>;
  },
): NodeLogs {
  const containerLogs = places?.containerLogs ?? CONTAINER_LOGS_DIRECTORY;
  const podLogs = kubelet.podLogsDir;
  const logs = createLogs({ files: host.files, removeTree: tools.removeTree }, { podLogs, containerLogs });
  const rotation = createLogRotation(
    {
      clock,
      log: log.named('runtime/logs'),
      supervisor,
      files: host.files,
      reopen: tools.cri.containers.reopenLog,
      written: () =>
        tools
          .views()
          .flatMap(({ observation }) => observation.containers)
          .filter(({ state, logPath }) => state === 'running' && logPath !== '')
          .map(({ id, logPath }) => ({ containerId: id, path: logPath })),
    },
    {
      podLogs,
      maxSize: bytesOf(kubelet.containerLogMaxSize),
      maxFiles: kubelet.containerLogMaxFiles,
      workers: kubelet.containerLogMaxWorkers,
      intervalMs: kubelet.containerLogMonitorInterval,
    },
  );
  const start = async (signal: AbortSignal): Promise<void> => {
    await logs.sweepLinks();
    await rotation.start(signal);
  };
  return { logs, part: { ...rotation, start } };
}

/** The configuration was checked: what is no quantity turns rotation off rather than filling the disk with tiny files. */
function bytesOf(text: string): bigint {
  const quantity = parseQuantity(text);
  return quantity.ok ? quantityValue(quantity.value) : -1n;
}
