/** What resources take from the configuration of the whole kubelet. */
import { parseCpuSet } from '../api/cpu-set.ts';
import { quantityOf } from '../api/pod-resources.ts';
import { addQuantities, quantityMilliValue, quantityValue } from '../api/quantity.ts';
import type { Config } from '../config/config.ts';
import type { ManagersConfig } from './managers.ts';
import type { ResourcesConfig } from './resources.ts';
import type { Reservations } from './rules/allocatable.ts';
import { ENFORCED_RESERVATIONS } from './rules/enforcement.ts';
import { cpuOptionsOf, mostNodesOf, prefersClosest } from './rules/manager-options.ts';
import type { TopologyPolicy } from './rules/topology-merge.ts';

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

const TOPOLOGY_POLICIES: readonly TopologyPolicy[] = ['none', 'best-effort', 'restricted', 'single-numa-node'];

export function managersConfig(config: Config): ManagersConfig {
  const { kubelet, features, settings } = config;
  const { systemReserved, kubeReserved } = reservationsOf(config);
  const cpu = addQuantities(quantityOf(systemReserved, 'cpu'), quantityOf(kubeReserved, 'cpu'));
  const reserved = kubelet.reservedMemory.map(({ numaNode, limits }) => {
    const bytes = Object.keys(limits).map((name) => [name, Number(quantityValue(quantityOf(limits, name)))] as const);
    return [numaNode, new Map(bytes)] as const;
  });
  return {
    directory: settings.directories.root,
    gates: {
      podLevel: features.enabled('PodLevelResources'),
      podLevelManagers: features.enabled('PodLevelResourceManagers'),
    },
    cpu: {
      isStatic: kubelet.cpuManagerPolicy === 'static',
      options: cpuOptionsOf(kubelet.cpuManagerPolicyOptions),
      reserved: kubelet.reservedSystemCPUs,
      reservedCount: Math.ceil(Number(quantityMilliValue(cpu)) / 1000),
      reconcilePeriodMs: kubelet.cpuManagerReconcilePeriod,
    },
    memory: { isStatic: kubelet.memoryManagerPolicy === 'Static', reserved: new Map(reserved) },
    topology: {
      policy: TOPOLOGY_POLICIES.find((name) => name === kubelet.topologyManagerPolicy) ?? 'none',
      scope: kubelet.topologyManagerScope === 'pod' ? 'pod' : 'container',
      preferClosest: prefersClosest(kubelet.topologyManagerPolicyOptions),
      mostNodes: mostNodesOf(kubelet.topologyManagerPolicyOptions),
    },
  };
}
