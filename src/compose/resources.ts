/** The part of the composition root that reads what the node has for pods, and builds what holds them to it. */
import { readFileSync } from 'node:fs';
import { parseCpuSet } from '../api/cpu-set.ts';
import type { ResourceList } from '../api/meta.ts';
import type { Pod } from '../api/pod.ts';
import type { Quantities } from '../api/pod-resources.ts';
import type { QosClass } from '../api/pod-status.ts';
import { qosClassOf } from '../api/qos-class.ts';
import { formatQuantity } from '../api/quantity.ts';
import type { Logger } from '../base/logger.ts';
import type { Config } from '../config/config.ts';
import { diskBytes, hugePages, processLimit } from '../host/capacity.ts';
import { parseCgroupMounts } from '../host/cgroup-mounts.ts';
import { createCgroups } from '../host/cgroups.ts';
import { memoryBytes, onlineCpus } from '../host/machine.ts';
import type { RecordEvent } from '../model/event.ts';
import { createResources, type Resources } from '../resources/resources.ts';
import type { Reservations } from '../resources/rules/allocatable.ts';
import type { CgroupDriver } from '../resources/rules/cgroup-name.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { PartDeps } from './compose.ts';
import { type Counting, countCgroups } from './counted.ts';

export interface ResourceTools {
  readonly cri: Pick<CriClient, 'cgroupDriver'>;
  readonly record: RecordEvent;
  readonly counting?: Counting | undefined;
}

/** The first version whose kubelet no longer works with a runtime that can't say which cgroup driver it uses. */
const RUNTIME_CONFIG_REQUIRED_FROM = '1.37.0';

/** Undefined: the runtime does not say, so the configuration counts. */
export async function askDriver(
  { cri, counting }: ResourceTools,
  log: Logger,
  signal: AbortSignal,
): Promise<CgroupDriver | undefined> {
  const driver = await cri.cgroupDriver(signal);
  if (driver !== 'unsupported') return driver;
  log.info(
    'CRI implementation should be updated to support RuntimeConfig. Falling back to using cgroupDriver from kubelet config.',
  );
  counting?.work.runtimeLosesSupport(RUNTIME_CONFIG_REQUIRED_FROM);
  return undefined;
}

export function composeResources(
  config: Config,
  { clock, log, supervisor }: PartDeps,
  tools: ResourceTools,
): Resources {
  const { kubelet, settings, features } = config;
  const cgroups = createCgroups(parseCgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8')));
  const askRuntime = features.enabled('KubeletCgroupDriverFromCRI');
  return createResources(
    {
      clock,
      log: log.named('resources'),
      supervisor,
      cgroups: tools.counting === undefined ? cgroups : countCgroups(cgroups, tools.counting),
      machine: () => ({
        cpus: onlineCpus().length,
        memory: memoryBytes(),
        ephemeralStorage: kubelet.localStorageCapacityIsolation ? diskBytes(settings.directories.root) : undefined,
        hugePages: hugePages(),
        pids: processLimit(),
      }),
      runtimeDriver: (signal) => (askRuntime ? askDriver(tools, log, signal) : Promise.resolve(undefined)),
      record: tools.record,
    },
    {
      cgroupsPerQos: kubelet.cgroupsPerQOS,
      cgroupRoot: kubelet.cgroupRoot,
      cgroupDriver: kubelet.cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs',
      pods: {
        podLevel: features.enabled('PodLevelResources'),
        cpuCfsQuota: kubelet.cpuCFSQuota,
        cpuCfsQuotaPeriod: Math.round(kubelet.cpuCFSQuotaPeriod * 1000),
        podPidsLimit: kubelet.podPidsLimit,
        maxPods: kubelet.maxPods,
        podsPerCore: kubelet.podsPerCore,
      },
      reservations: reservationsOf(config),
      enforcePods: kubelet.enforceNodeAllocatable.includes('pods'),
    },
  );
}

/** CPUs that are reserved by number count instead of amounts. */
function reservationsOf({ kubelet, settings }: Config): Reservations {
  const { systemReserved, kubeReserved } = kubelet;
  const evictionHard = settings.containers.allocatableIgnoresEviction ? undefined : kubelet.evictionHard;
  const cpus = parseCpuSet(kubelet.reservedSystemCPUs);
  if (!cpus.ok || cpus.value.length === 0) return { systemReserved, kubeReserved, evictionHard };
  const { cpu: _, ...kubeRest } = kubeReserved;
  return {
    systemReserved: { ...systemReserved, cpu: String(cpus.value.length) },
    kubeReserved: kubeRest,
    evictionHard,
  };
}

export function qosClasses({ features }: Config): (pod: Pod) => QosClass {
  const podLevel = features.enabled('PodLevelResources');
  return (pod) => qosClassOf(pod, { podLevel });
}

export function resourceListOf(quantities: Quantities): ResourceList {
  return Object.fromEntries([...quantities].map(([name, quantity]) => [name, formatQuantity(quantity)]));
}
