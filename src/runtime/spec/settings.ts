/** What requests to the runtime depend on besides the pod: facts of the machine and of the configuration, settled at start. */

export type SpecGate =
  | 'ContainerStopSignals'
  | 'CustomCPUCFSQuotaPeriod'
  | 'DisableCPUQuotaWithExclusiveCPUs'
  | 'EnvFiles'
  | 'MemoryQoS'
  | 'NodeSwap'
  | 'PodLevelResources'
  | 'RecursiveReadOnlyMounts'
  | 'UserNamespacesSupport';

export type Gates = (name: SpecGate) => boolean;

export interface ResourceSettings {
  readonly cgroupVersion: 1 | 2;
  readonly cpuCfsQuota: boolean;
  /** Microseconds. */
  readonly cpuCfsQuotaPeriod: number;
  /** Bytes, more than 0. */
  readonly memoryCapacity: bigint;
  /** Bytes. */
  readonly swapCapacity: bigint;
  /** The kernel can limit swap for a cgroup. */
  readonly swapController: boolean;
  readonly swapBehavior: '' | 'NoSwap' | 'LimitedSwap';
  /** The kernel kills one process, not the whole container, when memory is short (cgroup v2 only; v1 always does). */
  readonly singleProcessOomKill: boolean;
  /** Sizes of huge pages that the kernel has, as cgroup files name them (`2MB`), in the order of /sys/kernel/mm/hugepages. */
  readonly hugePageSizes: readonly string[];
  /** Bytes. */
  readonly pageSize: number;
  readonly memoryThrottlingFactor: number;
  readonly memoryReservationPolicy: string;
}

export interface SecuritySettings {
  readonly seccompDefault: boolean;
  /** Directory of the profiles that pods name with type Localhost. */
  readonly seccompProfileRoot: string;
  readonly selinux: boolean;
  /** Masked beside the usual paths: the thermal counters of those CPUs that have them. */
  readonly thermalPaths: readonly string[];
}

/** A request that can't be made. Containers then wait with this reason, and users see the message. */
export interface SpecProblem {
  readonly kind: 'problem';
  readonly reason: 'CreateContainerConfigError';
  readonly message: string;
}

export function specProblem(message: string): SpecProblem {
  return { kind: 'problem', reason: 'CreateContainerConfigError', message };
}
