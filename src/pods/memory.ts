/** What a worker remembers of its containers from one pass to the next: why they wait, and until when. */
import type { Container } from '../api/container.ts';
import type { ContainerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import type { Clock } from '../base/clock.ts';
import { sameJson } from '../base/same-json.ts';
import type { Observation } from '../model/observation.ts';
import { newestContainers } from '../model/observation.ts';
import type { CrashRecord, WaitingReason } from '../model/plan.ts';
import type { ContainerMemory } from '../model/pod-view.ts';

export interface Memory {
  /** `waiting` undefined: it has started. */
  note(container: string, waiting: WaitingReason | undefined, retryAt?: number): void;
  /** It was created and did not run: held back until it is observed to have ended; then its crash back-off counts. */
  noteNotRun(container: string, waiting: WaitingReason, retryAt: number): void;
  noteFailedHook(container: string, id: ContainerId): void;
  /** Its last start failed, and its back-off is not over. */
  isHeldBack(container: string): boolean;
  /** The containers that wait with this reason may be started at once. Answers whether there are any. */
  release(reason: string): boolean;
  /** When the first of the containers that are held back may be started again. */
  nextTry(): number | undefined;
  /** A container with a new image or new resources waits no longer, neither for its last start nor for its crash back-off. */
  follow(pod: Pod): void;
  /** Forgets the waiting reasons of containers that run, and the failed hooks of containers that are gone. */
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
      const changed = followed === undefined || followed === pod ? [] : changedContainers(followed, pod);
      followed = pod;
      if (changed.length === 0) return;
      for (const name of changed) Object.assign(entryOf(name), { waiting: undefined, retryAt: undefined });
      const left = new Map(crashes);
      for (const name of changed) left.delete(name);
      crashes = left;
    },
    compareWith: (observation) => {
      if (entries.size === 0) return;
      const present = new Set(observation.containers.map(({ id }) => id));
      const newestOf = newestContainers(observation);
      for (const [name, entry] of entries) {
        const newest = newestOf.get(name);
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

/** The names of the containers with another image or other resources than before. */
function changedContainers(before: Pod, after: Pod): readonly string[] {
  const old = new Map(allContainers(before).map((container) => [container.name, container]));
  const isChanged = ({ name, image, resources }: Container): boolean => {
    const known = old.get(name);
    return known !== undefined && !sameJson([known.image, known.resources], [image, resources]);
  };
  return allContainers(after)
    .filter(isChanged)
    .map(({ name }) => name);
}
