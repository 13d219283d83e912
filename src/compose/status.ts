/** The statuses of pods, from what their workers publish. */
import { qosClassOf } from '../api/qos-class.ts';
import type { Config } from '../config/config.ts';
import type { Devices } from '../devices/devices.ts';
import type { ProbeResults } from '../model/probe-results.ts';
import type { Handlers } from '../runtime/handlers.ts';
import { statusGates } from '../status/settings.ts';
import { createStatus, type Statuses } from '../status/status.ts';
import type { PartDeps } from './compose.ts';

export interface StatusTools {
  readonly handlers: Handlers;
  readonly nodeIps: () => readonly string[];
  readonly probes: () => ProbeResults;
  readonly devices: Pick<Devices, 'healthOf'>;
}

export function composeStatuses(config: Config, { clock, log, supervisor }: PartDeps, tools: StatusTools): Statuses {
  const { handlers, nodeIps, probes, devices } = tools;
  const showsHealth = config.features.enabled('ResourceHealthStatus');
  const podLevel = config.features.enabled('PodLevelResources');
  return createStatus({
    clock,
    log: log.named('status'),
    supervisor,
    probes,
    nodeIps,
    runtimeName: handlers.runtimeName,
    qosClassOf: (pod) => qosClassOf(pod, { podLevel }),
    recursiveReadOnly: () => handlers.features('').recursiveReadOnly,
    deviceHealth: showsHealth ? devices.healthOf : () => [],
    gates: statusGates(config),
  });
}
