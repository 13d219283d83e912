/**
 * Strategies `Cache` and `Get`: objects are fetched when they are needed, and (`Cache`) kept for a while. What volumes show is
 * read again from time to time, so that a change reaches the volume without a request.
 */
import { apiPathBelow } from '../api/api-path.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { KubeClient } from '../kube/kube.ts';
import {
  type KeepableObject,
  type KeptObjects,
  type NotifyChange,
  notRegistered,
  type ObjectKind,
  pathOf,
} from './kept-objects.ts';
import type { ObjectAnswer } from './objects.ts';
import { keyOf, type Referred } from './rules/gather.ts';
import { serverMessage } from './server-message.ts';
import { createShared, type Shared } from './shared.ts';

export interface FetchedObjectsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly client: KubeClient;
  readonly notify: NotifyChange;
  /** How long an answer stays valid, milliseconds; 0: not at all. */
  readonly ttlMs: () => number;
}

export interface FetchedObjectsConfig {
  readonly kind: ObjectKind;
  /** How often objects that volumes show are read. */
  readonly lookAgainMs: number;
  /** Read at once what a new pod refers to. */
  readonly ahead: boolean;
}

interface Entry<T> {
  readonly namespace: string;
  readonly name: string;
  byVolume: boolean;
  pods: ReadonlySet<string>;
  answer: ObjectAnswer<T> | undefined;
  /** Monotonic; undefined: the answer is too old. */
  fetchedAt: number | undefined;
}

export function createFetchedObjects<T extends KeepableObject>(
  deps: FetchedObjectsDeps,
  config: FetchedObjectsConfig,
): KeptObjects<T> {
  const { clock, log } = deps;
  const entries = new Map<string, Entry<T>>();
  const requests: Shared<ObjectAnswer<T>> = createShared();
  let running: AbortSignal | undefined;
  let looking: Promise<void> = Promise.resolve();

  const isFresh = ({ answer, fetchedAt }: Entry<T>) =>
    answer?.kind === 'found' && fetchedAt !== undefined && clock.mono() - fetchedAt < deps.ttlMs();

  const fetch = (entry: Entry<T>, signal: AbortSignal): Promise<ObjectAnswer<T>> =>
    requests.run(keyOf(entry.namespace, entry.name), signal, async (own) => {
      const before = entry.answer;
      const answer = await ask<T>(deps.client, config.kind, entry, own);
      if (!isOlder(answer, before)) {
        entry.answer = answer;
        entry.fetchedAt = clock.mono();
      }
      if (before !== undefined && versionOf(before) !== versionOf(entry.answer)) deps.notify(entry);
      return entry.answer ?? answer;
    });

  /** Without an answer of the API server the last known object is used. */
  const get = async (entry: Entry<T>, signal: AbortSignal): Promise<ObjectAnswer<T>> => {
    if (isFresh(entry) && entry.answer !== undefined) return entry.answer;
    try {
      return await fetch(entry, signal);
    } catch (error) {
      if (signal.aborted || deps.ttlMs() === 0 || entry.answer === undefined) throw error;
      return entry.answer;
    }
  };

  const fetchQuietly = async (entry: Entry<T>, signal: AbortSignal) => {
    try {
      await fetch(entry, signal);
    } catch (error) {
      if (signal.aborted) return;
      const object = keyOf(entry.namespace, entry.name);
      log.info(`Failed to prefetch ${config.kind.singular}`, { object, err: describeError(error) });
    }
  };

  const lookAgain = async (signal: AbortSignal) => {
    for (const entry of [...entries.values()].filter(isShown)) {
      if (!isFresh(entry)) await fetchQuietly(entry, signal);
    }
  };

  return {
    name: `${config.kind.singular} cache`,
    refer: (referred) => {
      for (const key of entries.keys()) if (!referred.has(key)) entries.delete(key);
      for (const [key, reference] of referred) {
        const entry = renew(entries.get(key), reference);
        entries.set(key, entry);
        if (config.ahead && running !== undefined && entry.fetchedAt === undefined) void fetchQuietly(entry, running);
      }
    },
    get: (namespace, name, signal) => {
      const entry = entries.get(keyOf(namespace, name));
      if (entry !== undefined) return get(entry, signal);
      return Promise.reject(new CodedError('unavailable', notRegistered(namespace, name)));
    },
    start: (signal) => {
      running = signal;
      const rest = () => clock.sleep(config.lookAgainMs, signal);
      const about = { kind: config.kind.singular };
      const loop = { name: 'object refresh', about, restFirst: true, pass: lookAgain, rest };
      looking = deps.supervisor.run(loop, signal);
    },
    stop: async () => {
      running = undefined;
      await looking;
    },
  };
}

const isShown = <T>(entry: Entry<T>): boolean =>
  entry.byVolume && !(entry.answer?.kind === 'found' && isImmutable(entry.answer.object));

const isImmutable = (object: unknown): boolean => (object as KeepableObject).immutable === true;

/** A new pod must not start with an old object. */
function renew<T>(entry: Entry<T> | undefined, reference: Referred): Entry<T> {
  const { namespace, name, byVolume, pods } = reference;
  if (entry === undefined) return { namespace, name, byVolume, pods, answer: undefined, fetchedAt: undefined };
  if ([...pods].some((uid) => !entry.pods.has(uid))) entry.fetchedAt = undefined;
  entry.byVolume = byVolume;
  entry.pods = pods;
  return entry;
}

async function ask<T>(
  client: KubeClient,
  kind: ObjectKind,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<ObjectAnswer<T>> {
  try {
    const path = apiPathBelow(pathOf(kind, namespace), name);
    const object = await client.request<T>({ method: 'GET', path }, signal);
    return { kind: 'found', object };
  } catch (error) {
    if (codeOf(error) !== 'notFound') throw error;
    return { kind: 'missing', message: serverMessage(error) };
  }
}

function versionOf<T extends KeepableObject>(answer: ObjectAnswer<T> | undefined): string | undefined {
  return answer?.kind === 'found' ? answer.object.metadata.resourceVersion : undefined;
}

/** Answers may come from an API server that is behind another one. */
function isOlder<T extends KeepableObject>(answer: ObjectAnswer<T>, before: ObjectAnswer<T> | undefined): boolean {
  const [now, then] = [versionOf(answer), versionOf(before)].map(Number);
  return now !== undefined && then !== undefined && now < then;
}
