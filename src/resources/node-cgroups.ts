/** The cgroups above the pods: of all pods together, and of the lower QoS classes. They are made before the first pod. */
import type { Pod } from '../api/pod.ts';
import type { Quantities } from '../api/pod-resources.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { ResourcesConfig, ResourcesDeps } from './resources.ts';
import { computeEnforced } from './rules/allocatable.ts';
import { type CgroupKernel, cgroupValues } from './rules/cgroup-files.ts';
import { burstableMilliCpu, type CgroupLimits, nodeCgroupLimits, qosCgroupLimits } from './rules/cgroup-limits.ts';
import { type CgroupDriver, type CgroupName, cgroupPath, nodeCgroup, qosCgroup } from './rules/cgroup-name.ts';

export interface NodeCgroups {
  readonly name: CgroupName;
  /** As configured until the runtime has said. */
  driver(): CgroupDriver;
  /** Asks the runtime, once. */
  settleDriver(signal: AbortSignal): Promise<CgroupDriver>;
  /** The place that the configuration names must be there. */
  checkRoot(): void;
  /** Makes them the first time, and keeps the weight of the classes up with their pods. */
  ensure(capacity: Quantities, signal: AbortSignal): Promise<void>;
  write(path: string, limits: CgroupLimits): Promise<void>;
  add(pod: Pod): void;
  drop(uid: string): void;
  /** Resolves when nothing is written any more. */
  stopped(): Promise<void>;
}

const RETRY_MS = 60_000;

export function createNodeCgroups(deps: ResourcesDeps, config: ResourcesConfig): NodeCgroups {
  const { cgroups, log, clock, record, supervisor } = deps;
  const { podLevel } = config.pods;
  const name = nodeCgroup(config.cgroupRoot);
  const pods = new Map<string, Pod>();
  const lacking = new Set<string>();
  let driver = config.cgroupDriver;
  let settled = false;
  let kernel: CgroupKernel | undefined;
  let making: Promise<void> | undefined;
  let updating: Promise<void> = Promise.resolve();
  let enforcing: Promise<void> = Promise.resolve();
  let weighed: number | undefined;
  let standing = false;

  const kernelOf = async (): Promise<CgroupKernel> => {
    const controllers = await cgroups.controllers();
    return { version: cgroups.version, controllers, hugePageSizes: [...deps.machine().hugePages.keys()] };
  };

  const write = async (path: string, limits: CgroupLimits): Promise<void> => {
    kernel ??= await kernelOf();
    for (const file of cgroups.write(path, cgroupValues(limits, kernel))) {
      if (!lacking.has(file)) log.warn('The kernel has no such limit: pods run without it', { file });
      lacking.add(file);
    }
  };

  /** All pods may use more than they are to be held to now: their limit comes when they use less. */
  const enforce = async (path: string, limits: CgroupLimits, signal: AbortSignal): Promise<void> => {
    let isEnforced = false;
    const pass = async (): Promise<void> => {
      try {
        await write(path, limits);
        isEnforced = true;
      } catch (error) {
        const message = `Failed to update Node Allocatable Limits ${JSON.stringify(name)}: ${describeError(error)}`;
        record(eventOf('Warning', 'FailedNodeAllocatableEnforcement', message));
        return;
      }
      record(eventOf('Normal', 'NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods'));
    };
    const rest = () => clock.sleep(RETRY_MS, signal);
    await supervisor.run({ name: 'node allocatable', pass, rest, isDone: () => isEnforced }, signal);
  };

  const weigh = async (): Promise<void> => {
    const milliCpu = burstableMilliCpu([...pods.values()], podLevel);
    if (!standing || weighed === milliCpu) return;
    await write(cgroupPath(qosCgroup(name, 'Burstable'), driver), qosCgroupLimits('Burstable', milliCpu));
    weighed = milliCpu;
  };

  const update = (): Promise<void> => {
    updating = updating.then(weigh).catch((error) => {
      log.warn('The QoS classes could not be weighed against each other', { err: error });
    });
    return updating;
  };

  const settleDriver = async (signal: AbortSignal): Promise<CgroupDriver> => {
    if (!settled) driver = (await deps.runtimeDriver(signal)) ?? config.cgroupDriver;
    settled = true;
    return driver;
  };

  const make = async (capacity: Quantities, signal: AbortSignal): Promise<void> => {
    if ((await settleDriver(signal)) === 'systemd') {
      log.warn('Pods get no limits of their own with the cgroup driver systemd: use cgroupfs in the runtime', {
        driver,
      });
      return;
    }
    const forPods = config.enforcePods ? computeEnforced(capacity, config.reservations) : capacity;
    const path = cgroupPath(name, driver);
    cgroups.create(path);
    for (const qosClass of ['Burstable', 'BestEffort'] as const) {
      const ofClass = cgroupPath(qosCgroup(name, qosClass), driver);
      cgroups.create(ofClass);
      await write(ofClass, qosCgroupLimits(qosClass, burstableMilliCpu([...pods.values()], podLevel)));
    }
    standing = true;
    enforcing = enforce(path, nodeCgroupLimits(forPods), signal);
  };

  return {
    name,
    driver: () => driver,
    settleDriver,
    checkRoot: () => {
      const root = cgroupPath(name.slice(0, -1), 'cgroupfs');
      if (cgroups.exists(root)) return;
      throw new CodedError(
        'invalid',
        `cgroupRoot ${JSON.stringify(root)} is not a cgroup of every controller on this machine`,
      );
    },
    ensure: async (capacity, signal) => {
      making ??= make(capacity, signal).catch((error) => {
        making = undefined;
        throw error;
      });
      await making;
      await update();
    },
    write,
    add: (pod) => {
      const before = pods.get(pod.metadata.uid);
      pods.set(pod.metadata.uid, pod);
      if (before !== pod && standing) void update();
    },
    drop: (uid) => {
      if (pods.delete(uid) && standing) void update();
    },
    stopped: async () => {
      await Promise.all([updating, enforcing]);
    },
  };
}

function eventOf(type: 'Normal' | 'Warning', reason: string, message: string) {
  return { node: true as const, type, reason, message };
}
