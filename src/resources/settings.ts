/** What resources take from the configuration of the whole kubelet. */
import { parseCpuSet } from '../api/cpu-set.ts';
import type { Config } from '../config/config.ts';
import type { ResourcesConfig } from './resources.ts';
import type { Reservations } from './rules/allocatable.ts';

export function resourcesConfig(config: Config): ResourcesConfig {
  const { kubelet, features } = config;
  return {
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
  };
}

/** CPUs that are reserved by number count instead of amounts. */
export function reservationsOf({ kubelet, settings }: Pick<Config, 'kubelet' | 'settings'>): Reservations {
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
