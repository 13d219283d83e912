/** The end of the node: a shutdown of its machine, or a drain. */
import type { Config } from '../config/config.ts';
import type { Events } from '../events/events.ts';
import { createLogind } from '../host/dbus/logind.ts';
import type { Pods } from '../pods/pods.ts';
import { shutdownConfig } from '../shutdown/settings.ts';
import { createNodeShutdown, type NodeShutdown } from '../shutdown/shutdown.ts';
import type { Cluster } from './cluster.ts';
import type { PartDeps } from './compose.ts';
import type { Meters } from './metrics.ts';

export interface ShutdownTools {
  readonly pods: Pods;
  readonly events: Pick<Events, 'record'>;
  /** Undefined: standalone. */
  readonly cluster: Pick<Cluster, 'node' | 'untilSent'> | undefined;
  readonly meters: Pick<Meters, 'shutdown'>;
}

export function composeShutdown(config: Config, deps: PartDeps, tools: ShutdownTools): NodeShutdown {
  const { clock, log, supervisor, host, machine } = deps;
  const { pods, events, cluster, meters } = tools;
  return createNodeShutdown(
    {
      ...{ clock, supervisor },
      log: log.named('shutdown'),
      bootId: machine.bootId,
      logind: createLogind(host.openBus(clock, 'others')),
      inotify: host.files.inotify,
      pods: () => pods,
      untilSent: cluster?.untilSent,
      record: events.record,
      meter: meters.shutdown,
      onChange: () => cluster?.node.requestUpdate(),
    },
    shutdownConfig(config),
  );
}
