/** The cgroups of pods: made with their limits before the sandbox, removed after it. */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { qosClassOf } from '../api/qos-class.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Cgroups } from '../host/cgroups.ts';
import type { NodeCgroups } from './node-cgroups.ts';
import { type CgroupLimits, type PodLimitSettings, podCgroupLimits } from './rules/cgroup-limits.ts';
import { type CgroupName, cgroupPath, podCgroup, podUidOfDirectory, qosCgroup, uidFault } from './rules/cgroup-name.ts';
import { type LimitChange, planLimitChange } from './rules/cgroup-resize.ts';
import { NO_SWEEP, planSweep } from './rules/orphans.ts';
import { QOS_PARENTS } from './rules/qos-parents.ts';

export interface PodCgroups {
  nameOf(pod: Pod): CgroupName;
  ensure(pod: Pod, signal: AbortSignal): Promise<void>;
  /** What the limits of this pod change in its cgroup; undefined where it has none. */
  planResize(pod: Pod): LimitChange | undefined;
  limit(pod: Pod, limits: CgroupLimits, signal: AbortSignal): Promise<void>;
  remove(uid: PodUid, signal: AbortSignal): Promise<void>;
  list(): Promise<readonly PodUid[]>;
  /** Removes those that belong to no pod. Does not wait for processes that do not end: the next sweep tries again. */
  sweep(signal: AbortSignal): Promise<void>;
}

export interface PodCgroupsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly cgroups: Cgroups;
  readonly node: NodeCgroups;
  readonly hasExclusiveCpus?: ((pod: Pod) => boolean) | undefined;
}

const REMOVE_WITHIN_MS = 10_000;
const FIRST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 200;

export function createPodCgroups(
  { clock, log, cgroups, node, hasExclusiveCpus }: PodCgroupsDeps,
  settings: PodLimitSettings,
): PodCgroups {
  const limited = new Set<string>();
  /** Pods whose cgroup this kubelet made or removed, while there is a directory of theirs. */
  const handled = new Map<string, readonly CgroupName[]>();
  let swept = NO_SWEEP;

  const limitsOf = (pod: Pod): CgroupLimits =>
    podCgroupLimits(pod, { ...settings, cpuCfsQuota: settings.cpuCfsQuota && hasExclusiveCpus?.(pod) !== true });
  const nameOf = (pod: Pod): CgroupName =>
    podCgroup(node.name, qosClassOf(pod, { podLevel: settings.podLevel }), pod.metadata.uid);

  /** Of a pod that is not known here any more, the class is not known either. */
  const namesOf = (uid: string): readonly CgroupName[] => {
    const pod = node.pod(uid);
    if (pod !== undefined) return [nameOf(pod)];
    return handled.get(uid) ?? QOS_PARENTS.map((qosClass) => podCgroup(node.name, qosClass, uid));
  };

  const removeOne = async (name: CgroupName, signal: AbortSignal): Promise<void> => {
    const deadline = clock.mono() + REMOVE_WITHIN_MS;
    limited.delete(name.join('/'));
    for (let wait = FIRST_WAIT_MS; !(await node.writer().remove(name, signal)); ) {
      if (clock.mono() > deadline) throw stuckError(name);
      await clock.sleep(wait, signal);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    }
  };

  const list = async (): Promise<readonly PodUid[]> => {
    const driver = node.driver();
    const directories = await Promise.all(
      QOS_PARENTS.map((qosClass) => cgroups.children(cgroupPath(qosCgroup(node.name, qosClass), driver))),
    );
    const uids = directories.flat().map((directory) => podUidOfDirectory(directory, driver));
    return [...new Set(uids)].filter((uid) => uid !== undefined).map(podUid);
  };

  return {
    nameOf,
    list,
    ensure: async (pod, signal) => {
      const name = nameOf(pod);
      const key = name.join('/');
      const writer = node.writer();
      const isNew = !writer.exists(name);
      if (!isNew && limited.has(key)) return;
      handled.set(pod.metadata.uid, [name]);
      try {
        await writer.create(name, limitsOf(pod), signal);
      } catch (error) {
        if (isNew) throw error;
        // It runs with the limits that it was started with, and must not be stopped for that.
        log.warn('A running pod keeps its earlier limits', { err: error, podUID: pod.metadata.uid });
      }
      limited.add(key);
    },
    planResize: (pod) => {
      const name = nameOf(pod);
      if (!node.writer().exists(name)) return undefined;
      const path = cgroupPath(name, node.driver());
      return planLimitChange(limitsOf(pod), (file) => cgroups.read(path, file), cgroups.version);
    },
    limit: (pod, limits, signal) => node.writer().update(nameOf(pod), limits, signal),
    remove: async (uid, signal) => {
      const names = namesOf(uid);
      node.drop(uid);
      handled.set(uid, names);
      for (const name of names) await removeOne(name, signal);
    },
    sweep: async (signal) => {
      const listed = await list();
      const isKnown = (uid: string) => node.pod(uid) !== undefined;
      const { state, orphans } = planSweep(swept, { listed, isKnown, wasKnown: (uid) => handled.has(uid) });
      swept = state;
      for (const uid of handled.keys()) if (!isKnown(uid) && !listed.includes(podUid(uid))) handled.delete(uid);
      await Promise.all(
        orphans.map(async (uid) => {
          log.info('Removing the cgroup of a pod that does not exist any more', { podUID: uid });
          for (const name of namesOf(uid)) {
            if (!(await node.writer().remove(name, signal))) {
              log.warn('A pod cgroup has processes that do not end, will retry', { podUID: uid });
            }
          }
        }),
      );
    },
  };
}

/** Throws where this UID can't be part of a path. */
export function checkUid(uid: string): void {
  const fault = uidFault(uid);
  if (fault !== undefined) throw new CodedError('invalid', fault);
}

function stuckError(name: CgroupName): CodedError {
  return new CodedError('unavailable', `cgroup ${name.join('/')} can't be removed: processes in it have not ended`);
}
