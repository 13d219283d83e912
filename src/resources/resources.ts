/**
 * The front door of the node's resources: what there is for pods, and the cgroups that hold them to it, one for all pods, one
 * for each of the lower QoS classes and one for each pod. Containers are put below their pod's by the runtime.
 */

import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Quantities } from '../api/pod-resources.ts';
import { qosClassOf } from '../api/qos-class.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Cgroups } from '../host/cgroups.ts';
import type { RecordNodeEvent } from '../model/event.ts';
import type { PodNewsOf } from '../model/pod-view.ts';
import { createNodeCgroups } from './node-cgroups.ts';
import {
  computeAllocatable,
  computeCapacity,
  type MachineCapacity,
  type PodCountSettings,
  type Reservations,
} from './rules/allocatable.ts';
import { type PodLimitSettings, podCgroupLimits } from './rules/cgroup-limits.ts';
import {
  type CgroupDriver,
  cgroupPath,
  containerDirectory,
  groupCgroups,
  podCgroup,
  podUidOfDirectory,
  qosCgroup,
  uidFault,
} from './rules/cgroup-name.ts';

export interface Resources extends Part {
  /** Makes the pod's cgroup with its limits, and those above it. */
  ensurePodCgroup(pod: Pod): Promise<void>;
  /** Ends what still runs in the pod's cgroup and takes it away. Nothing happens where there is none. */
  removePodCgroup(uid: PodUid): Promise<void>;
  /** What the runtime is told; known for sure once `ensurePodCgroup` has resolved. */
  podCgroupParent(pod: Pod): string;
  /** Where the runtime puts a container or sandbox of this pod. */
  containerCgroup(pod: Pod, id: string): string;
  /** Those above pods: of all of them, and below that of the lower QoS classes. Undefined where pods have none. */
  groupCgroups(): { readonly pods: string; readonly classes: readonly string[] } | undefined;
  /** Every pod that has a cgroup on this node. */
  listPodCgroups(): Promise<readonly PodUid[]>;
  /** The classes weigh as much as their pods: tell what pods there are. */
  observe(news: PodNewsOf<'uid' | 'pod' | 'step'>): void;
  /** What the memory of the pod is limited to, bytes; undefined: not limited. */
  podMemoryLimit(pod: Pod): bigint | undefined;
  capacity(): Quantities;
  /** What pods can be promised. */
  allocatable(): Quantities;
}

export interface ResourcesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly cgroups: Cgroups;
  readonly machine: () => MachineCapacity;
  /** What the runtime says that it uses; undefined where it doesn't say. */
  readonly runtimeDriver: (signal: AbortSignal) => Promise<CgroupDriver | undefined>;
  readonly record: RecordNodeEvent;
}

export interface ResourcesConfig {
  readonly cgroupsPerQos: boolean;
  readonly cgroupRoot: string;
  readonly cgroupDriver: CgroupDriver;
  readonly pods: PodLimitSettings & PodCountSettings;
  readonly reservations: Reservations;
  /** All pods together are held to what is left for them, not to what the machine has. */
  readonly enforcePods: boolean;
}

const CLASSES = ['Guaranteed', 'Burstable', 'BestEffort'] as const;
const REMOVE_WITHIN_MS = 10_000;
const FIRST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 200;

export function createResources(deps: ResourcesDeps, config: ResourcesConfig): Resources {
  const { clock, cgroups, log } = deps;
  const { podLevel } = config.pods;
  const node = createNodeCgroups(deps, config);
  const made = new Set<string>();
  let stopping: AbortSignal | undefined;
  let preparing: Promise<void> = Promise.resolve();
  let capacity: Quantities = new Map();
  let allocatable: Quantities = new Map();

  const started = (): AbortSignal => {
    if (stopping === undefined) throw new CodedError('unavailable', 'resources are not started yet');
    return stopping;
  };
  const pathOf = (pod: Pod): string =>
    cgroupPath(podCgroup(node.name, qosClassOf(pod, { podLevel }), pod.metadata.uid), node.driver());

  const makePodCgroup = async (pod: Pod): Promise<void> => {
    const path = pathOf(pod);
    const isNew = !cgroups.exists(path);
    if (!isNew && made.has(path)) return;
    cgroups.create(path);
    try {
      await node.write(path, podCgroupLimits(pod, config.pods));
    } catch (error) {
      if (isNew) throw error;
      // It runs with the limits it was started with, and must not be stopped for that.
      log.warn('A running pod keeps its earlier limits', { err: error, podUID: pod.metadata.uid });
    }
    made.add(path);
  };

  const removeOne = async (path: string): Promise<void> => {
    const signal = started();
    const deadline = clock.mono() + REMOVE_WITHIN_MS;
    made.delete(path);
    for (let wait = FIRST_WAIT_MS; !(await cgroups.remove(path)); wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      const killed = await cgroups.kill(path);
      if (killed > 0) log.v(2)?.info('Ended processes that a pod left behind', { cgroup: path, processes: killed });
      if (clock.mono() > deadline) throw stuckError(path, killed);
      await clock.sleep(wait, signal);
    }
  };

  return {
    name: 'resources',
    start: (signal) => {
      stopping = signal;
      capacity = computeCapacity(deps.machine(), config.pods);
      allocatable = computeAllocatable(capacity, config.reservations);
      if (!config.cgroupsPerQos) return;
      node.checkRoot();
      // In advance, so that the first pod need not wait for it; where it fails now, that pod tries again and tells why.
      preparing = node.ensure(capacity, signal).catch((error) => {
        log.v(2)?.info('The cgroups of all pods are made with the first pod', { err: error });
      });
    },
    stop: async () => {
      await preparing;
      await node.stopped();
    },
    ensurePodCgroup: async (pod) => {
      if (!config.cgroupsPerQos) return;
      const fault = uidFault(pod.metadata.uid);
      if (fault !== undefined) throw new CodedError('invalid', fault);
      node.add(pod);
      await node.ensure(capacity, started());
      if (node.driver() === 'cgroupfs') await makePodCgroup(pod);
    },
    removePodCgroup: async (uid) => {
      if (!config.cgroupsPerQos || uidFault(uid) !== undefined) return;
      node.drop(uid);
      if ((await node.settleDriver(started())) !== 'cgroupfs') return;
      for (const qosClass of CLASSES) await removeOne(cgroupPath(podCgroup(node.name, qosClass, uid), node.driver()));
    },
    podCgroupParent: (pod) => (config.cgroupsPerQos ? pathOf(pod) : ''),
    containerCgroup: (pod, id) => `${pathOf(pod)}/${containerDirectory(id, node.driver())}`,
    groupCgroups: () => (config.cgroupsPerQos ? groupCgroups(node.name, node.driver()) : undefined),
    listPodCgroups: async () => {
      const driver = node.driver();
      const directories = await Promise.all(
        CLASSES.map((qosClass) => cgroups.children(cgroupPath(qosCgroup(node.name, qosClass), driver))),
      );
      const uids = directories.flat().map((directory) => podUidOfDirectory(directory, driver));
      return [...new Set(uids)].filter((uid) => uid !== undefined).map(podUid);
    },
    observe: (news) => {
      if (news.kind === 'gone' || news.view.step === 'terminated')
        node.drop(news.kind === 'gone' ? news.uid : news.view.uid);
      else node.add(news.view.pod);
    },
    podMemoryLimit: (pod) => podCgroupLimits(pod, config.pods).memory,
    capacity: () => capacity,
    allocatable: () => allocatable,
  };
}

function stuckError(path: string, processes: number): CodedError {
  const text = `cgroup ${path} can't be removed: ${processes} processes in it have not ended`;
  return new CodedError('unavailable', text);
}
