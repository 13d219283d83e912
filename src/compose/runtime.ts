/** The container runtime: its client, whether it answers, what it can do, what it has of pods. */
import { join } from 'node:path';
import type { Part } from '../base/lifecycle.ts';
import type { Config } from '../config/config.ts';
import { type Counting, countEvents } from '../metering/metering.ts';
import type { Pods } from '../pods/pods.ts';
import { type CriClient, createCriClient } from '../runtime/cri/client.ts';
import { DEFAULT_CRI_TIMEOUTS } from '../runtime/cri/timeouts.ts';
import { createHandlers } from '../runtime/handlers.ts';
import { createRuntimeHealth } from '../runtime/health.ts';
import { createObserve, type ObserveDeps } from '../runtime/observe/observe.ts';
import { createRunning } from '../runtime/running.ts';
import type { PartDeps } from './compose.ts';
import type { Meters } from './metrics.ts';

/** The client connects when it is first used. */
export function composeRuntime({ kubelet }: Config, { clock, log, supervisor, runtime }: PartDeps, meters: Meters) {
  const endpoint = kubelet.containerRuntimeEndpoint;
  const cri =
    runtime ??
    createCriClient({
      endpoint,
      ...(kubelet.imageServiceEndpoint === '' ? {} : { imageEndpoint: kubelet.imageServiceEndpoint }),
      clock,
      timeouts: { ...DEFAULT_CRI_TIMEOUTS, request: kubelet.runtimeRequestTimeout },
      onCall: meters.onRuntimeCall,
    });
  const connection: Part = { name: 'runtime connection', start: () => undefined, stop: cri.close };
  const healthLog = log.named('runtime/health');
  const health = createRuntimeHealth({ clock, log: healthLog, supervisor, endpoint, version: cri.version });
  return { cri, running: createRunning(cri), connection, health };
}

export interface ObservationTools {
  readonly cri: CriClient;
  readonly counting: Counting;
  readonly pods: () => Pods;
  readonly onRelist?: ObserveDeps['onRelist'];
}

export function composeObservation({ kubelet, settings }: Config, deps: PartDeps, tools: ObservationTools) {
  const { clock, log, supervisor, host } = deps;
  const { cri, counting, pods, onRelist } = tools;
  const handlersLog = log.named('runtime/handlers');
  const { status, version } = cri;
  return {
    handlers: createHandlers({ clock, log: handlersLog, supervisor, status, version }),
    observe: createObserve({
      clock,
      log: log.named('runtime/observe'),
      supervisor,
      runtime: countEvents(cri, counting, clock.now),
      messages: {
        files: host.files.guarded,
        pods: join(settings.directories.root, 'pods'),
        podLogs: kubelet.podLogsDir,
      },
      wake: (uid) => pods().wake(uid, 'runtime-changed'),
      exitAnnounced: (uid) => pods().wake(uid, 'exit-announced'),
      onList: (listed) => pods().found(listed),
      onRelist,
    }),
  };
}
