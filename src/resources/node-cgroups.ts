/** Keeps the cgroups above pods as they should be: makes them before the first pod, and updates them as pods come and go. */
import type { Pod } from '../api/pod.ts';
import type { Logger } from '../base/logger.ts';
import { type CgroupWriter, type CgroupWriterDeps, createCgroupWriter } from './cgroup-writer.ts';
import type { CgroupLimits } from './rules/cgroup-limits.ts';
import { type CgroupDriver, type CgroupName, qosCgroup } from './rules/cgroup-name.ts';
import {
  isStanding,
  NO_CGROUPS,
  type NodeCgroupFact,
  type NodeCgroupStep,
  nextNodeCgroupStep,
  reduceNodeCgroups,
} from './rules/node-cgroups.ts';
import { type QosParentLimits, type QosSettings, qosParentLimits } from './rules/qos-parents.ts';

export interface NodeCgroups {
  readonly name: CgroupName;
  /** What the cgroups above pods should be held to, by the pods that are here now. */
  limits(): QosParentLimits;
  /** As configured until the runtime has answered. */
  driver(): CgroupDriver;
  writer(): CgroupWriter;
  /** Asks the runtime, once. */
  settleDriver(signal: AbortSignal): Promise<void>;
  /** Resolves when pods can be put below them. */
  ensure(signal: AbortSignal): Promise<void>;
  /** Writes everything again. */
  refresh(signal: AbortSignal): Promise<void>;
  add(pod: Pod): void;
  drop(uid: string): void;
  pod(uid: string): Pod | undefined;
  /** Resolves when nothing is written any more. */
  stopped(): Promise<void>;
}

export interface NodeCgroupsDeps extends CgroupWriterDeps {
  readonly log: Logger;
  readonly runtimeDriver: (signal: AbortSignal) => Promise<CgroupDriver | undefined>;
  /** Undefined before the kubelet has started. */
  readonly signal: () => AbortSignal | undefined;
}

export interface NodeCgroupsConfig {
  readonly name: CgroupName;
  readonly cgroupDriver: CgroupDriver;
  readonly qos: () => QosSettings;
}

export function createNodeCgroups(deps: NodeCgroupsDeps, config: NodeCgroupsConfig): NodeCgroups {
  const { log } = deps;
  const pods = new Map<string, Pod>();
  let writer = createCgroupWriter(deps, config.cgroupDriver);
  let state = NO_CGROUPS;
  let working: Promise<void> = Promise.resolve();
  let queued = false;

  const learn = (fact: NodeCgroupFact) => {
    state = reduceNodeCgroups(state, fact);
  };
  const limits = () => qosParentLimits(pods.values(), config.qos());
  const next = () => nextNodeCgroupStep(state, limits());

  const askDriver = shared(async (signal) => {
    const driver = (await deps.runtimeDriver(signal)) ?? config.cgroupDriver;
    if (driver !== config.cgroupDriver) writer = createCgroupWriter(deps, driver);
    learn({ kind: 'driver', driver });
  });
  const settleDriver = async (signal: AbortSignal): Promise<void> => {
    if (state.driver === undefined) await askDriver(signal);
  };

  const carryOut = async (step: NodeCgroupStep, signal: AbortSignal): Promise<void> => {
    if (step.kind === 'ask driver') return settleDriver(signal);
    const { parent } = step;
    const name = qosCgroup(config.name, parent);
    if (step.kind === 'create') await writer.create(name, step.limits, signal);
    else await updateParent(writer, name, step.limits, signal);
    learn({ kind: 'written', parent, limits: step.limits });
  };

  /** Until everything is as it should be, with the pods that are here then. */
  const work = async (signal: AbortSignal): Promise<void> => {
    queued = false;
    for (let step = next(); step !== undefined; step = next()) {
      try {
        await carryOut(step, signal);
      } catch (error) {
        if (step.kind !== 'update' || signal.aborted) throw error;
        log.warn('Failed to update QoS cgroup configuration', { qosClass: step.parent, err: error });
        // Until it changes again or is refreshed: trying at once would change nothing.
        learn({ kind: 'written', parent: step.parent, limits: step.limits });
      }
    }
  };

  const advance = (signal: AbortSignal): Promise<void> => {
    const mine = working.then(() => work(signal));
    working = mine.catch(() => undefined);
    return mine;
  };
  const update = () => {
    const signal = deps.signal();
    if (signal === undefined || queued || !isStanding(state)) return;
    queued = true;
    advance(signal).catch((error) => {
      if (!signal.aborted) log.warn('Failed to update QoS cgroup configuration', { err: error });
    });
  };

  return {
    name: config.name,
    limits,
    driver: () => state.driver ?? config.cgroupDriver,
    writer: () => writer,
    settleDriver,
    ensure: async (signal) => {
      if (!isStanding(state)) await advance(signal);
      else update();
    },
    refresh: async (signal) => {
      if (!isStanding(state)) return;
      learn({ kind: 'stale' });
      await advance(signal);
    },
    add: (pod) => {
      const before = pods.get(pod.metadata.uid);
      pods.set(pod.metadata.uid, pod);
      if (before !== pod) update();
    },
    drop: (uid) => {
      if (pods.delete(uid)) update();
    },
    pod: (uid) => pods.get(uid),
    stopped: () => working,
  };
}

/** The start of the node and the first pass over its cgroups may ask at the same time: one question is enough. */
function shared(work: (signal: AbortSignal) => Promise<void>) {
  let underWay: Promise<void> | undefined;
  return (signal: AbortSignal): Promise<void> => {
    underWay ??= work(signal).finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** A class may use more than it is to be held to now: then it may at least not grow. */
async function updateParent(
  writer: CgroupWriter,
  name: CgroupName,
  limits: CgroupLimits,
  signal: AbortSignal,
): Promise<void> {
  try {
    await writer.update(name, limits, signal);
  } catch (error) {
    const usage = limits.memory === undefined ? undefined : await writer.memoryUsage(name);
    if (usage === undefined || limits.memory === undefined || usage <= limits.memory) throw error;
    await writer.update(name, { ...limits, memory: usage }, signal);
  }
}
