/**
 * A list that a watch keeps up to date.
 *
 *   listing ──listed──► watching ──ended──► watching from the last version seen
 *      ▲                    └──410 Gone, or only invalid events───┐
 *      └──────────────────────────────────────────────────────────┘
 *
 * Every failed step is retried after a back-off with jitter, or at the end of an outage of the server.
 */
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal, withDeadline } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { readLines } from './body.ts';
import type { Client } from './client.ts';
import type { KubeErrorData, KubeObject, WatchRequest } from './kube.ts';
import type { Reachability } from './reachability.ts';
import { isStatus, refusalError } from './rules/answers.ts';

export interface WatchDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly random: () => number;
  readonly client: Client;
  readonly reachability: Pick<Reachability, 'back'>;
}

interface List<T> {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly resourceVersion?: string };
  readonly items?: readonly T[] | null;
}

interface WatchEvent<T> {
  readonly type: string;
  readonly object: T;
}

const FIRST_BACK_OFF_MS = 800;
const FIRST_REFUSED_MS = 5;
const EARLY_TRIES = 7;
const LONGEST_BACK_OFF_MS = 15_000; // jitter makes it up to twice as long
/** A watch that lasted this long was successful, even without an event. */
const GOOD_WATCH_MS = 5_000;
const SHORTEST_WATCH_S = 300;
/** The server ends a watch after its timeout; if it does not, the kubelet ends it this much later. */
const OVERTIME_MS = 30_000;
/** etcd stores no object above 1.5 MiB; as JSON, with managed fields, it can be a few times that. */
const LONGEST_LINE = 32 << 20;
const WITH_LIST = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };
const LIST_IS_WHOLE = 'k8s.io/initial-events-end';
/** After this many invalid events in a row the whole list is requested. */
const MOST_INVALID_EVENTS = 3;

export function createWatch<T extends KubeObject>(deps: WatchDeps, request: WatchRequest<T>): Part {
  const ended = linkSignal();
  let work: Promise<void> = Promise.resolve();
  return {
    name: `watch of ${request.path}`,
    start: (signal) => {
      if (signal.aborted) ended.abort(signal.reason);
      else signal.addEventListener('abort', () => ended.abort(signal.reason), { once: true, signal: ended.signal });
      const watch = new Watch(deps, request, ended.signal);
      const loop = {
        name: 'API watch',
        about: { path: request.path },
        // These are the watches of objects that pods refer to; those of the node and its pods use a separate list.
        oneOfMany: request.inOne === true,
        pass: () => watch.round(),
        rest: () => Promise.resolve(),
      };
      work = deps.supervisor.run(loop, ended.signal);
    },
    stop: async () => {
      ended.abort(new CodedError('unavailable', `the watch of ${request.path} was stopped`));
      await work;
    },
  };
}

/** An error event of the watch, as an error. */
class InvalidEvent extends CodedError {}

class Watch<T extends KubeObject> {
  readonly #deps: WatchDeps;
  readonly #request: WatchRequest<T>;
  readonly #signal: AbortSignal;
  readonly #selectors: Readonly<Record<string, string>>;
  /** All changes up to this version were received; undefined: the whole list is needed. */
  #version: string | undefined;
  /** A list must not be older than this version: `0` accepts any, empty requires the newest. */
  #atLeast = '0';
  #failures = 0;
  #invalidEvents = 0;
  #inOne: boolean;
  /** The objects received so far of a list over the watch itself. */
  #coming: Map<string, T> | undefined;

  constructor(deps: WatchDeps, request: WatchRequest<T>, signal: AbortSignal) {
    this.#deps = deps;
    this.#request = request;
    this.#signal = signal;
    const { fieldSelector, labelSelector, inOne = false } = request;
    this.#inOne = inOne;
    this.#selectors = {
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    };
  }

  /** Lists if necessary and watches until the server ends the watch; after a failure, waits until the next attempt is due. */
  async round(): Promise<void> {
    try {
      if (this.#version === undefined && !this.#inOne) await this.#list();
      await this.#follow(this.#version);
    } catch (error) {
      if (!this.#signal.aborted) await this.#recover(error);
    }
  }

  async #list(): Promise<void> {
    const query = { ...this.#selectors, resourceVersion: this.#atLeast };
    const list = await this.#deps.client.request<List<T>>(
      { method: 'GET', path: this.#request.path, query },
      this.#signal,
    );
    const version = list?.metadata?.resourceVersion;
    if (version === undefined || version === '') {
      throw new CodedError('unavailable', `GET ${this.#request.path}: the list has no resourceVersion`);
    }
    const items = itemsOf(list);
    this.#version = version;
    this.#atLeast = version;
    this.#notify('replaced', (listener) => listener.replaced(items));
  }

  /** Resolves when the server has ended the watch normally. */
  async #follow(version: string | undefined): Promise<void> {
    const { clock, client, random } = this.#deps;
    const timeoutSeconds = Math.floor(SHORTEST_WATCH_S * (1 + random()));
    const query = {
      ...this.#selectors,
      watch: 'true',
      allowWatchBookmarks: 'true',
      ...(version === undefined ? { ...WITH_LIST, resourceVersion: this.#atLeast } : { resourceVersion: version }),
      timeoutSeconds: String(timeoutSeconds),
    };
    const what = `watch of ${this.#request.path}`;
    using limit = withDeadline(clock, timeoutSeconds * 1000 + OVERTIME_MS, what, this.#signal);
    const started = clock.mono();
    this.#coming = version === undefined ? new Map() : undefined;
    const reply = await client.stream(this.#request.path, query, limit.signal);
    try {
      await readLines(reply, { mostBytes: LONGEST_LINE, signal: limit.signal }, (line) => this.#take(line));
    } finally {
      if (clock.mono() - started >= GOOD_WATCH_MS) this.#noteProgress();
    }
    if (clock.mono() - started < GOOD_WATCH_MS && this.#version === version) {
      throw new CodedError('unavailable', `${what}: the server ended it at once`);
    }
  }

  #noteProgress(): void {
    this.#failures = 0;
    this.#invalidEvents = 0;
  }

  #take(line: string): void {
    const { type, object } = parseEvent<T>(line, this.#request.path);
    if (type === 'ERROR') throw errorOf(object, this.#request.path);
    const version = object?.metadata?.resourceVersion;
    if (version === undefined || version === '') {
      throw new InvalidEvent('unavailable', `watch of ${this.#request.path}: an event without a resourceVersion`);
    }
    if (this.#coming !== undefined && !this.#takeOfList(this.#coming, type, object)) return;
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
        this.#notify('changed', (listener) => listener.changed(object));
        break;
      case 'DELETED':
        this.#notify('removed', (listener) => listener.removed(object));
        break;
      case 'BOOKMARK':
        break;
      default:
        throw new InvalidEvent('unavailable', `watch of ${this.#request.path}: unknown event ${JSON.stringify(type)}`);
    }
    this.#version = version;
    this.#atLeast = version;
    this.#noteProgress();
  }

  /** Whether the event is for the listener: none is before the list is complete. */
  #takeOfList(coming: Map<string, T>, type: string, object: T): boolean {
    const { uid, annotations } = object.metadata;
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
        coming.set(uid, object);
        return false;
      case 'DELETED':
        coming.delete(uid);
        return false;
      case 'BOOKMARK':
        if (annotations?.[LIST_IS_WHOLE] !== 'true') return false;
        this.#coming = undefined;
        this.#notify('replaced', (listener) => listener.replaced([...coming.values()]));
        return true;
      default:
        return true;
    }
  }

  #notify(what: keyof WatchRequest<T>['listener'], call: (listener: WatchRequest<T>['listener']) => void): void {
    if (this.#signal.aborted) return;
    try {
      call(this.#request.listener);
    } catch (err) {
      this.#deps.log.error('Failed to process watch event', { path: this.#request.path, what, err });
    }
  }

  /**
   * The server's authorizer may learn of a new pod a moment after the node, and so of what the node may read: a refusal of the first list
   * is retried soon.
   */
  #backOff(code: string): number {
    const early = code === 'denied' && this.#atLeast === '0' ? EARLY_TRIES : 0;
    if (this.#failures <= early) return FIRST_REFUSED_MS * 2 ** (this.#failures - 1);
    return Math.min(FIRST_BACK_OFF_MS * 2 ** Math.max(this.#failures - 2 - early, 0), LONGEST_BACK_OFF_MS);
  }

  async #recover(error: unknown): Promise<void> {
    const { log, clock, random, reachability } = this.#deps;
    const { path } = this.#request;
    if (error instanceof InvalidEvent) this.#invalidEvents += 1;
    if (codeOf(error) === 'gone' || this.#invalidEvents >= MOST_INVALID_EVENTS || isTooNew(error)) {
      // If the list itself failed, the next one must be the newest.
      if (this.#version === undefined) this.#atLeast = '';
      this.#version = undefined;
      this.#invalidEvents = 0;
    }
    if (this.#inOne && this.#version === undefined && codeOf(error) === 'invalid') {
      log.info('The API server does not support lists over a watch, using a separate list', { path });
      this.#inOne = false;
      return;
    }
    this.#failures += 1;
    const code = codeOf(error);
    const wasAnswered = answerOf(error).httpStatus !== undefined;
    // The first retry is immediate: mostly the server was restarted or the connection was renewed.
    if (this.#failures === 1 && (code === 'gone' || (code === 'unavailable' && !wasAnswered))) {
      log.v(4)?.info('Watch ended with error, resuming', { path, err: error });
      return;
    }
    const back = this.#backOff(code) * (1 + random());
    // An outage is logged once for all watches; an error answer to one of them is logged here.
    const logger = wasAnswered || error instanceof InvalidEvent ? log : log.v(2);
    logger?.warn('Failed to watch', { path, afterMs: Math.round(back), err: error });
    using waiting = linkSignal(this.#signal);
    const waits = [clock.sleep(back, waiting.signal)];
    if (code === 'unavailable') waits.push(reachability.back(waiting.signal));
    await Promise.race(waits).catch(() => undefined);
    waiting.abort('waited');
    for (const wait of waits) await wait.catch(() => undefined);
  }
}

/** The items of a list have no kind; those of a watch have. */
function itemsOf<T extends KubeObject>({ apiVersion, kind, items }: List<T>): readonly T[] {
  const own = kind?.endsWith('List') ? { apiVersion, kind: kind.slice(0, -'List'.length) } : {};
  // An item that is not an API object must not make the whole list fail.
  return (items ?? []).filter(isObject).map((item) => ({ ...own, ...item }));
}

function parseEvent<T>(line: string, path: string): WatchEvent<T> {
  try {
    const event: unknown = JSON.parse(line);
    if (typeof event === 'object' && event !== null && 'type' in event && 'object' in event) {
      return event as WatchEvent<T>;
    }
  } catch (cause) {
    throw new InvalidEvent('unavailable', `watch of ${path}: a line is not JSON`, { cause });
  }
  throw new InvalidEvent('unavailable', `watch of ${path}: a line is not an event`);
}

function errorOf(object: unknown, path: string): CodedError {
  const what = `watch of ${path}`;
  if (!isStatus(object)) return new InvalidEvent('unavailable', `${what}: an error without a status`);
  const error = refusalError({
    what,
    httpStatus: object.code ?? 500,
    body: JSON.stringify(object),
    retryAfterMs: undefined,
  });
  return error.code === 'gone' ? error : new InvalidEvent(error.code, error.message, { data: error.data });
}

function answerOf(error: unknown): KubeErrorData {
  return error instanceof CodedError ? error.data : {};
}

/** The server, perhaps another one than before, does not have the requested version yet. */
function isTooNew(error: unknown): boolean {
  return answerOf(error).status?.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') ?? false;
}

function isObject(item: KubeObject | null | undefined): boolean {
  return typeof item?.metadata === 'object' && item.metadata !== null;
}
