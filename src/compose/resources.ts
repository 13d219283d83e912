/** What the node has for pods, and what holds them to it. */
import { formatCpuSet } from '../api/cpu-set.ts';
import type { Config } from '../config/config.ts';
import { createSystemd } from '../host/dbus/systemd.ts';
import type { Counting } from '../metering/metering.ts';
import type { RecordEvent } from '../model/event.ts';
import { hugePageBytes, processorsOf } from '../model/machine.ts';
import { createResources, type Resources, type ResourcesDeps } from '../resources/resources.ts';
import { askRuntimeDriver } from '../resources/runtime-driver.ts';
import { resourcesConfig } from '../resources/settings.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { addMemoryProtection } from '../telemetry/metrics-memory.ts';
import type { PartDeps } from './compose.ts';

export interface ResourceTools {
  readonly cri: Pick<CriClient, 'cgroupDriver'>;
  readonly record: RecordEvent;
  readonly counting: Counting;
  readonly metrics: Metrics;
  readonly hasExclusiveCpus: NonNullable<ResourcesDeps['hasExclusiveCpus']>;
}

export function composeResources(config: Config, deps: PartDeps, tools: ResourceTools): Resources {
  const { cri, record, counting } = tools;
  const { kubelet, settings, features } = config;
  const { clock, log, supervisor, host, machine } = deps;
  const { capacity, kernel } = host;
  const cgroups = host.cgroups.tree();
  const asksRuntime = features.enabled('KubeletCgroupDriverFromCRI');
  const driver = { log, ask: cri.cgroupDriver, onLosesSupport: counting.work.runtimeLosesSupport };
  const resources = createResources(
    {
      clock,
      log: log.named('resources'),
      supervisor,
      cgroups,
      onOperation: counting.work.cgroup,
      systemd: createSystemd(clock, host.openBus(clock)),
      kernel: { read: kernel.readSetting, write: kernel.writeSetting },
      pid: host.own.pid,
      isKernelThread: host.processes.isKernelThread,
      cpus: () => formatCpuSet(processorsOf(machine)),
      machine: () => ({
        cpus: processorsOf(machine).length,
        memory: BigInt(machine.memoryBytes),
        ephemeralStorage: kubelet.localStorageCapacityIsolation
          ? capacity.diskBytes(settings.directories.root)
          : undefined,
        hugePages: hugePageBytes(machine),
        pids: capacity.processLimit(),
      }),
      runtimeDriver: (signal) => (asksRuntime ? askRuntimeDriver(driver, signal) : Promise.resolve(undefined)),
      record,
      hasExclusiveCpus: tools.hasExclusiveCpus,
    },
    resourcesConfig(config, { cgroupVersion: cgroups.version }),
  );
  addMemoryProtection(tools.metrics, features.enabled('MemoryQoS') ? resources.protectedMemory : undefined);
  return resources;
}
