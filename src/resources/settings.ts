/** What resources take from the configuration of the whole kubelet. */
import { parseCpuSet } from '../api/cpu-set.ts';
import type { Config } from '../config/config.ts';
import type { ResourcesConfig } from './resources.ts';
import type { Reservations } from './rules/allocatable.ts';
import { ENFORCED_RESERVATIONS } from './rules/enforcement.ts';

export function resourcesConfig(config: Config, { cgroupVersion }: { cgroupVersion: 1 | 2 }): ResourcesConfig {
  const { kubelet, features } = config;
  const memoryQos = features.enabled('MemoryQoS') && cgroupVersion === 2;
  const protectMemory = kubelet.memoryReservationPolicy === 'TieredReservation';
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
      protectMemory: memoryQos && protectMemory,
    },
    enforcePods: kubelet.enforceNodeAllocatable.includes('pods'),
    enforcement: {
      reservations: reservationsOf(config),
      enforce: ENFORCED_RESERVATIONS.filter((kind) => kubelet.enforceNodeAllocatable.includes(kind)),
      systemReservedCgroup: kubelet.systemReservedCgroup,
      kubeReservedCgroup: kubelet.kubeReservedCgroup,
      protectMemory: memoryQos,
    },
    own: { kubeletCgroups: kubelet.kubeletCgroups, systemCgroups: kubelet.systemCgroups },
    protectKernel: kubelet.protectKernelDefaults,
    protectMemory: memoryQos ? protectMemory : undefined,
    reservedMemoryPercent: features.enabled('QOSReserved') ? percentOf(kubelet.qosReserved['memory']) : undefined,
  };
}

/** `50%`; other forms were refused with the configuration. */
function percentOf(text: string | undefined): bigint | undefined {
  const digits = /^(\d+)%$/.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : BigInt(digits);
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
