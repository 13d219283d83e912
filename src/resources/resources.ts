/**
 * The front door of the node's resources: what there is for pods, and the cgroups that hold them to it, one for all pods, one
 * for each of the lower QoS classes and one for each pod. Containers are put below their pod's by the runtime.
 */

import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Quantities } from '../api/pod-resources.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Cgroups } from '../host/cgroups.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import type { PodUpdateOf } from '../model/pod-view.ts';
import type { CgroupWriterDeps, SystemdPort } from './cgroup-writer.ts';
import type { KernelSettingsPort } from './kernel-settings.ts';
import { cpusOfCgroup, findPinned } from './live-cpus.ts';
import { createNodeCgroups } from './node-cgroups.ts';
import { setUpNode } from './node-setup.ts';
import type { OwnCgroupsConfig, OwnCgroupsDeps } from './own-cgroups.ts';
import { checkUid, createPodCgroups } from './pod-cgroups.ts';
import {
  computeAllocatable,
  computeCapacity,
  computeEnforced,
  type MachineCapacity,
  type PodCountSettings,
} from './rules/allocatable.ts';
import { bytes, type CgroupLimits, type PodLimitSettings, podCgroupLimits } from './rules/cgroup-limits.ts';
import {
  type CgroupDriver,
  cgroupPath,
  containerDirectory,
  groupCgroups,
  nodeCgroup,
  uidFault,
} from './rules/cgroup-name.ts';
import { isEmptyChange } from './rules/cgroup-resize.ts';
import type { EnforcementSettings } from './rules/enforcement.ts';
import { protectedMemory } from './rules/qos-parents.ts';

/** What changes in the cgroup of a pod that is resized. */
export interface PodCgroupResize {
  /** Undefined: nothing grows. */
  readonly grow: (() => Promise<void>) | undefined;
  readonly shrink: (() => Promise<void>) | undefined;
  /** Bytes; set where the memory of the pod is limited to less than before. */
  readonly shrinksTo: bigint | undefined;
}

export interface Resources extends Part {
  /** Makes the pod's cgroup with its limits, and those above it. */
  ensurePodCgroup(pod: Pod): Promise<void>;
  /** How the pod's cgroup gets the limits of this pod. */
  planPodResize(pod: Pod): PodCgroupResize;
  /** Bytes that the pod uses, or one of its containers; undefined where the kernel doesn't say. */
  memoryUsage(pod: Pod, container?: string): Promise<bigint | undefined>;
  /** Ends what still runs in the pod's cgroup and removes it. Nothing happens where there is none. */
  removePodCgroup(uid: PodUid): Promise<void>;
  /** For the runtime; known for sure once `ensurePodCgroup` has resolved. */
  podCgroupParent(pod: Pod): string;
  /** Where the runtime puts a container or sandbox of this pod. */
  containerCgroup(pod: Pod, id: string): string;
  /** Those above pods: of all of them, and below that of the lower QoS classes. Undefined where pods have none. */
  groupCgroups(): { readonly pods: string; readonly classes: readonly string[] } | undefined;
  /** The CPUs that a container of this pod runs on. */
  liveCpus(pod: Pod, id: string): ReadonlySet<number>;
  /** Those of containers of guaranteed pods that run on some of these CPUs only, by UID. */
  findPinned(all: ReadonlySet<number>): Promise<ReadonlyMap<string, ReadonlySet<number>>>;
  /** Every pod that has a cgroup on this node. */
  listPodCgroups(): Promise<readonly PodUid[]>;
  /** The cgroups of the QoS classes follow the pods that are here. */
  observe(update: PodUpdateOf<'uid' | 'pod' | 'step'>): void;
  /** Bytes that the kernel keeps for guaranteed pods, and those that it takes from burstable ones last. */
  protectedMemory(): { readonly min: number; readonly low: number };
  /** What the memory of the pod is limited to, bytes; undefined: not limited. */
  podMemoryLimit(pod: Pod): bigint | undefined;
  capacity(): Quantities;
  /** What pods can be promised. */
  allocatable(): Quantities;
}

export interface ResourcesDeps
  extends Pick<OwnCgroupsDeps, 'pid' | 'isKernelThread'>,
    Pick<CgroupWriterDeps, 'onOperation'> {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly cgroups: Cgroups;
  readonly systemd: SystemdPort;
  readonly kernel: KernelSettingsPort;
  readonly machine: () => MachineCapacity;
  /** The processors of the machine, as `0-3`. */
  readonly cpus: () => string;
  /** What the runtime reports; undefined where it doesn't. */
  readonly runtimeDriver: (signal: AbortSignal) => Promise<CgroupDriver | undefined>;
  readonly record: RecordNodeEvent;
  /** Containers of the pod have CPUs of their own: its time is not limited. */
  readonly hasExclusiveCpus?: (pod: Pod) => boolean;
}

export interface ResourcesConfig {
  readonly cgroupsPerQos: boolean;
  readonly cgroupRoot: string;
  readonly cgroupDriver: CgroupDriver;
  readonly pods: PodLimitSettings & PodCountSettings;
  /** All pods together are limited to what is left for them, not to what the machine has. */
  readonly enforcePods: boolean;
  readonly enforcement: EnforcementSettings;
  readonly own: OwnCgroupsConfig;
  /** Kernel settings are checked, but not changed. */
  readonly protectKernel: boolean;
  /** Undefined where the kernel or the gate MemoryQoS does not allow it. */
  readonly protectMemory: boolean | undefined;
  readonly reservedMemoryPercent: bigint | undefined;
}

export function createResources(deps: ResourcesDeps, config: ResourcesConfig): Resources {
  const { clock, cgroups, log } = deps;
  const { podLevel } = config.pods;
  const { reservations } = config.enforcement;
  let stopping: AbortSignal | undefined;
  const background: Promise<void>[] = [];
  let capacity: Quantities = new Map();
  let allocatable: Quantities = new Map();

  const forPods = () => computeEnforced(capacity, reservations);
  const node = createNodeCgroups(
    { ...deps, hugePageSizes: () => [...deps.machine().hugePages.keys()], signal: () => stopping },
    {
      name: nodeCgroup(config.cgroupRoot),
      cgroupDriver: config.cgroupDriver,
      qos: () => ({ ...config, podLevel, memoryForPods: bytes(forPods(), 'memory') }),
    },
  );
  const pods = createPodCgroups({ clock, log, cgroups, node, hasExclusiveCpus: deps.hasExclusiveCpus }, config.pods);
  const started = (): AbortSignal => {
    if (stopping === undefined) throw new CodedError('unavailable', 'resources are not started yet');
    return stopping;
  };
  const pathOf = (pod: Pod): string => cgroupPath(pods.nameOf(pod), node.driver());

  return {
    name: 'resources',
    start: async (signal) => {
      stopping = signal;
      capacity = computeCapacity(deps.machine(), config.pods);
      allocatable = computeAllocatable(capacity, reservations);
      await setUpNode({ deps, config, node, pods, capacity, track: (work) => background.push(work) }, signal);
    },
    stop: async () => {
      await Promise.all(background);
      await node.stopped();
    },
    ensurePodCgroup: async (pod) => {
      if (!config.cgroupsPerQos) return;
      checkUid(pod.metadata.uid);
      node.add(pod);
      await node.ensure(started());
      await pods.ensure(pod, started());
    },
    planPodResize: (pod) => {
      const change = config.cgroupsPerQos ? pods.planResize(pod) : undefined;
      if (change === undefined) return { grow: undefined, shrink: undefined, shrinksTo: undefined };
      const step = (limits: CgroupLimits) =>
        isEmptyChange(limits) ? undefined : () => pods.limit(pod, limits, started());
      return { grow: step(change.grow), shrink: step(change.shrink), shrinksTo: change.shrink.memory };
    },
    memoryUsage: (pod, container) => {
      const path = pathOf(pod);
      return cgroups.memoryUsage(
        container === undefined ? path : `${path}/${containerDirectory(container, node.driver())}`,
      );
    },
    removePodCgroup: async (uid) => {
      if (!config.cgroupsPerQos || uidFault(uid) !== undefined) return;
      await node.settleDriver(started());
      await pods.remove(uid, started());
    },
    podCgroupParent: (pod) => (config.cgroupsPerQos ? pathOf(pod) : ''),
    containerCgroup: (pod, id) => `${pathOf(pod)}/${containerDirectory(id, node.driver())}`,
    liveCpus: (pod, id) => cpusOfCgroup(cgroups, `${pathOf(pod)}/${containerDirectory(id, node.driver())}`),
    findPinned: (all) => findPinned(cgroups, node.name, all),
    groupCgroups: () => (config.cgroupsPerQos ? groupCgroups(node.name, node.driver()) : undefined),
    listPodCgroups: pods.list,
    observe: (update) => {
      if (update.kind === 'gone' || update.view.step === 'terminated')
        node.drop(update.kind === 'gone' ? update.uid : update.view.uid);
      else node.add(update.view.pod);
    },
    podMemoryLimit: (pod) => podCgroupLimits(pod, config.pods).memory,
    protectedMemory: () => protectedMemory(node.limits()),
    capacity: () => capacity,
    allocatable: () => allocatable,
  };
}
