/**
 * Writes the statuses of pods to the API server: for each pod only the latest, one write at a time, and none where the API server
 * already has it. A pod that is being deleted is removed from it when its last status is written and it uses nothing of the node any more.
 * What to write is decided in `rules/status-entry.ts`.
 */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit, type WakeBit } from '../base/wake.ts';
import type { KubeClient, WatchListener } from '../kube/kube.ts';
import { type ApiObjects, createApiObjects } from './api-objects.ts';
import { createRetries, type Retries } from './retries.ts';
import { type ApiObject, podUidOf } from './rules/api-object.ts';
import {
  type EntryEffect,
  type EntryInput,
  nextEntry,
  planWrite,
  type StatusEntry,
  type StatusWork,
} from './rules/status-entry.ts';
import type { PodStatusChange } from './status.ts';
import { type WriteResult, writeStatus } from './status-writer.ts';

export interface Publisher extends Part {
  /** Takes note and returns at once. */
  publish(change: Pick<PodStatusChange, 'uid' | 'status'>): void;
  /** Nothing of the pod runs, and its volumes and cgroup are gone: its object may go. */
  finish(uid: PodUid): void;
  /** What the API server has of this node's pods, mirror pods too. */
  readonly listener: WatchListener<Pod>;
  /** An answer of the API server that the watch has not delivered yet. */
  learn(object: Pod): void;
  /** The API server answers again: writes that wait for it begin now. */
  retry(): void;
  /** Resolves when the API server has the newest status of each of these pods that it knows. */
  untilSent(uids: readonly PodUid[], signal: AbortSignal): Promise<void>;
}

export interface PublisherDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'guard'>;
  readonly client: KubeClient;
  /** 0 to below 1. */
  readonly random: () => number;
  /** How long it took from a new status until the API server had it: for metrics. */
  readonly onSynced?: ((ms: number) => void) | undefined;
}

export function createPublisher(deps: PublisherDeps): Publisher {
  const objects = createApiObjects();
  const writes = createWrites(deps, objects);
  const reconsider = (object: ApiObject): void => writes.begin(podUidOf(object) as PodUid);
  const learn = (object: Pod): void => {
    if (objects.learn(object)) reconsider(object);
  };
  const listener: WatchListener<Pod> = {
    replaced: (list) => {
      objects.replace(list).forEach(reconsider);
      // A list is an answer: the API server can be reached again.
      writes.retry();
      list.forEach(reconsider);
    },
    changed: learn,
    removed: (object) => {
      objects.remove(object);
      reconsider(object);
    },
  };
  return {
    name: 'status publisher',
    listener,
    learn,
    retry: writes.retry,
    untilSent: writes.untilSent,
    start: writes.start,
    stop: writes.stop,
    publish: ({ uid, status }) => writes.send(uid, { kind: 'publish', status }),
    finish: (uid) => writes.send(uid, { kind: 'finish' }),
  };
}

interface Writes extends Required<Pick<Part, 'start' | 'stop'>> {
  send(uid: PodUid, input: Extract<EntryInput, { kind: 'publish' | 'finish' }>): void;
  /** Begins what there is to write of a pod, if anything. */
  begin(uid: PodUid): void;
  retry(): void;
  untilSent: Publisher['untilSent'];
}

function createWrites(deps: PublisherDeps, objects: ApiObjects): Writes {
  const { clock, supervisor, random } = deps;
  const entries = new Map<PodUid, StatusEntry>();
  const underWay = new Map<PodUid, Promise<void>>();
  const settled = createWakeBits();
  let signal: AbortSignal | undefined;
  const times = () => ({ now: clock.now(), mono: clock.mono() });

  const update = (uid: PodUid, input: EntryInput): readonly EntryEffect[] => {
    const { entry, effects } = nextEntry(entries.get(uid), input, times());
    entries.set(uid, entry);
    return effects;
  };

  const settle = (uid: PodUid, { object, work }: Write, result: WriteResult): void => {
    if (result.kind === 'aborted') return;
    if (result.kind === 'failed' && result.failure !== 'replaced') {
      retries.failed(uid, result.failure);
      return;
    }
    // `replaced`: the watch delivers what became of the object; until then nothing can be written.
    if (result.kind === 'failed' && objects.isCurrent(object)) objects.remove(object);
    if (result.kind === 'deleted') update(uid, { kind: 'deleted', objectUid: object.metadata.uid });
    if (result.kind === 'accepted' && work.kind === 'patch') {
      const effects = update(uid, { kind: 'accepted', patch: work, answer: result.object.status ?? {} });
      for (const effect of effects) carryOut(deps, effect, object);
      // Versions may go back where the API server's store was restored: an answer to what is known counts in any case.
      if (objects.isCurrent(object)) objects.keep(result.object);
      else objects.learn(result.object);
    }
    retries.succeeded(uid);
  };

  const planNext = (uid: PodUid, stopping: AbortSignal): void => {
    const known = entries.get(uid);
    if (stopping.aborted || known === undefined || underWay.has(uid)) return;
    const object = objects.of(uid);
    const { entry, next } = planWrite(known, object, times());
    entries.set(uid, entry);
    if (next.kind === 'forget') {
      entries.delete(uid);
      retries.forget(uid);
    }
    if (next.kind !== 'write' || object === undefined) return;
    if (next.notBefore > clock.now()) retries.putOff(uid, next.notBefore);
    if (!retries.mustWait(uid)) underWay.set(uid, write(uid, { object, work: next.work }, stopping));
  };

  const write = async (uid: PodUid, one: Write, stopping: AbortSignal): Promise<void> => {
    const result = await writeStatus(deps, one, stopping);
    guarded(uid, () => settle(uid, one, result));
    underWay.delete(uid);
    begin(uid);
    settled.wake();
  };
  const isSent = (uid: PodUid): boolean => {
    const entry = entries.get(uid);
    if (entry === undefined || entry.step === 'deleted' || objects.of(uid) === undefined) return true;
    return entry.report?.delivery.kind !== 'unsent' && !underWay.has(uid);
  };

  /** A status that can't be compared is that pod's problem: it is tried again later, and others go on. */
  const guarded = (uid: PodUid, call: () => void): void => {
    if (!supervisor.guard('status publisher', { podUID: uid }, call)) retries.failed(uid, 'refused');
  };
  const begin = (uid: PodUid): void => {
    const stopping = signal;
    if (stopping !== undefined) guarded(uid, () => planNext(uid, stopping));
  };
  const retries: Retries = createRetries({ clock, random, retry: begin });

  return {
    begin,
    retry: retries.release,
    untilSent: async (uids, within) => {
      while (!uids.every(isSent)) await settled.wait(within);
    },
    send: (uid, input) => {
      update(uid, input);
      if (input.kind === 'publish') retries.renewed(uid);
      begin(uid);
    },
    start: (given) => {
      signal = given;
      for (const uid of entries.keys()) begin(uid);
    },
    stop: async () => {
      retries.stop();
      await Promise.all(underWay.values());
    },
  };
}

/** For any number of waiters, each of which looks again after each wake. */
function createWakeBits() {
  const bits = new Set<WakeBit>();
  return {
    wake: () => {
      for (const bit of bits) bit.wake();
    },
    wait: async (within: AbortSignal) => {
      const bit = createWakeBit();
      bits.add(bit);
      await bit.wait(within).finally(() => bits.delete(bit));
    },
  };
}

interface Write {
  readonly object: ApiObject;
  readonly work: StatusWork;
}

function carryOut({ log, onSynced }: PublisherDeps, effect: EntryEffect, { metadata }: ApiObject): void {
  if (effect.kind === 'synced') {
    onSynced?.(effect.ms);
    return;
  }
  log.error('Another client keeps overwriting the status of a pod', {
    pod: `${metadata.namespace}/${metadata.name}`,
    podUID: metadata.uid,
    hint: 'is there another kubelet with the name of this node?',
  });
}
