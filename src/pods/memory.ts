/** What a worker remembers of its containers from one pass to the next: why they wait, and until when. */
import type { ContainerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import type { Clock } from '../base/clock.ts';
import { sameJson } from '../base/same-json.ts';
import type { Observation } from '../model/observation.ts';
import { newestContainer } from '../model/observation.ts';
import type { CrashRecord, WaitingReason } from '../model/plan.ts';
import type { ContainerMemory } from '../model/pod-view.ts';

export interface Memory {
  /** Undefined: it has started. */
  note(container: string, waiting: WaitingReason | undefined, retryAt?: number): void;
  /** It was made and did not run: held back unless it is seen to have ended, when its crash back-off counts. */
  noteNotRun(container: string, waiting: WaitingReason, retryAt: number): void;
  noteFailedHook(container: string, id: ContainerId): void;
  /** A start of it failed a moment ago: trying again now would only fail again. */
  isHeldBack(container: string): boolean;
  /** What this reason told of may be there now: what waits for it may be tried at once. True where something does. */
  release(reason: string): boolean;
  /** The earliest time at which something that is held back may be tried again. */
  nextTry(): number | undefined;
  /** What held a container up with another image or other resources does not hold it up any more, as for its crash back-off. */
  follow(pod: Pod): void;
  /** Forgets the reasons of containers that run, and hooks of containers that are gone. */
  compareWith(observation: Observation): void;
  snapshot(): ReadonlyMap<string, ContainerMemory>;
  crashes(): ReadonlyMap<string, CrashRecord>;
  noteCrashes(records: ReadonlyMap<string, CrashRecord>): void;
}

interface Entry {
  waiting: WaitingReason | undefined;
  retryAt: number | undefined;
  untilEnded: boolean;
  failedHooks: Set<ContainerId>;
}

export function createMemory(clock: Clock): Memory {
  const entries = new Map<string, Entry>();
  let followed: Pod | undefined;
  let crashes: ReadonlyMap<string, CrashRecord> = new Map();
  const entryOf = (name: string): Entry => {
    const nothing = { waiting: undefined, retryAt: undefined, untilEnded: false, failedHooks: new Set<ContainerId>() };
    const entry = entries.get(name) ?? nothing;
    entries.set(name, entry);
    return entry;
  };
  return {
    note: (name, waiting, retryAt) => {
      const entry = entryOf(name);
      entry.waiting = waiting;
      entry.retryAt = retryAt;
      entry.untilEnded = false;
    },
    noteNotRun: (name, waiting, retryAt) => {
      Object.assign(entryOf(name), { waiting, retryAt, untilEnded: true });
    },
    noteFailedHook: (name, id) => {
      entryOf(name).failedHooks.add(id);
    },
    isHeldBack: (name) => {
      const retryAt = entries.get(name)?.retryAt;
      return retryAt !== undefined && clock.now() < retryAt;
    },
    release: (reason) => {
      const waiting = [...entries.values()].filter((entry) => entry.waiting?.reason === reason);
      for (const entry of waiting) entry.retryAt = undefined;
      return waiting.length > 0;
    },
    nextTry: () => {
      const times = [...entries.values()].map(({ retryAt }) => retryAt).filter((time) => time !== undefined);
      const coming = times.filter((time) => time > clock.now());
      return coming.length === 0 ? undefined : Math.min(...coming);
    },
    follow: (pod) => {
      const before = followed === undefined || followed === pod ? [] : allContainers(followed);
      followed = pod;
      for (const { name, image, resources } of allContainers(pod)) {
        const old = before.find((container) => container.name === name);
        if (old === undefined || sameJson([old.image, old.resources], [image, resources])) continue;
        Object.assign(entryOf(name), { waiting: undefined, retryAt: undefined });
        crashes = new Map([...crashes].filter(([one]) => one !== name));
      }
    },
    compareWith: (observation) => {
      const present = new Set(observation.containers.map(({ id }) => id));
      for (const [name, entry] of entries) {
        const newest = newestContainer(observation, name);
        if (newest?.state === 'running' && !entry.failedHooks.has(newest.id)) entry.waiting = undefined;
        if (entry.untilEnded && newest?.state === 'exited') entry.retryAt = undefined;
        for (const id of entry.failedHooks) if (!present.has(id)) entry.failedHooks.delete(id);
      }
    },
    snapshot: () =>
      new Map(
        [...entries].map(([name, { waiting, failedHooks }]) => [name, { waiting, failedHooks: new Set(failedHooks) }]),
      ),
    crashes: () => crashes,
    noteCrashes: (records) => {
      crashes = records;
    },
  };
}
