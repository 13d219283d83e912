/** The managers of CPUs, memory and topology. */
import type { Config } from '../config/config.ts';
import type { RecordEvent } from '../model/event.ts';
import type { Pods } from '../pods/pods.ts';
import { createManagers, type Managers, pinnedCpus } from '../resources/managers.ts';
import type { Resources } from '../resources/resources.ts';
import { managersConfig } from '../resources/settings.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createManagerMetrics } from '../telemetry/metrics-managers.ts';
import type { PartDeps } from './compose.ts';

export interface ManagerTools {
  readonly cri: Pick<CriClient, 'containers'>;
  readonly record: RecordEvent;
  readonly metrics: Metrics;
  readonly resources: Pick<Resources, 'findPinned' | 'liveCpus'>;
  readonly pods: () => Pods;
}

export function composeManagers(config: Config, deps: PartDeps, tools: ManagerTools): Managers {
  const { clock, log, supervisor, machine } = deps;
  const { cri, record, metrics, resources, pods } = tools;
  const managers: Managers = createManagers(
    {
      clock,
      log: log.named('resources/managers'),
      supervisor,
      machine,
      record,
      views: () => pods().views(),
      liveCpus: resources.liveCpus,
      findPinned: resources.findPinned,
      update: (id, cpusetCpus, signal) => cri.containers.updateResources(id, { cpusetCpus }, signal),
      meters: createManagerMetrics(metrics, clock.mono, () => pinnedCpus(managers)),
    },
    managersConfig(config),
  );
  return managers;
}
