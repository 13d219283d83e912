/**
 * A list that is kept up to date.
 *
 *   listing ──listed──► watching ──ended──► watching from the last version seen
 *      ▲                    └──410 Gone, or nothing but nonsense──┐
 *      └──────────────────────────────────────────────────────────┘
 *
 * Every step that fails is tried again after a back-off with jitter, or as soon as a server that was away is back.
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
/** A watch that lasted so long was a good one, also where nothing happened. */
const GOOD_WATCH_MS = 5_000;
const SHORTEST_WATCH_S = 300;
/** The server ends a watch; where it forgets to, so long after it should have. */
const OVERTIME_MS = 30_000;
/** etcd takes no object above 1.5 MiB; as JSON, with managed fields, it can be a few times that. */
const LONGEST_LINE = 32 << 20;
const WITH_LIST = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };
const LIST_IS_WHOLE = 'k8s.io/initial-events-end';
/** A server that sends nonsense so often in a row is asked for the whole list. */
const MOST_NONSENSE = 3;

export function createWatch<T extends KubeObject>(deps: WatchDeps, asked: WatchRequest<T>): Part {
  const ended = linkSignal();
  let work: Promise<void> = Promise.resolve();
  return {
    name: `watch of ${asked.path}`,
    start: (signal) => {
      if (signal.aborted) ended.abort(signal.reason);
      else signal.addEventListener('abort', () => ended.abort(signal.reason), { once: true, signal: ended.signal });
      const watch = new Watch(deps, asked, ended.signal);
      const loop = {
        name: 'API watch',
        about: { path: asked.path },
        // The watches of objects that pods refer to; those of the node and its pods list apart.
        oneOfMany: asked.inOne === true,
        pass: () => watch.round(),
        rest: () => Promise.resolve(),
      };
      work = deps.supervisor.run(loop, ended.signal);
    },
    stop: async () => {
      ended.abort(new CodedError('unavailable', `the watch of ${asked.path} was stopped`));
      await work;
    },
  };
}

/** Carries an answer of the server out of a stream of events. */
class Nonsense extends CodedError {}

class Watch<T extends KubeObject> {
  readonly #deps: WatchDeps;
  readonly #request: WatchRequest<T>;
  readonly #signal: AbortSignal;
  readonly #selectors: Readonly<Record<string, string>>;
  /** Up to where this has seen everything; undefined: the whole list is needed. */
  #version: string | undefined;
  /** What a list must not be older than: `0` takes any, empty the newest. */
  #atLeast = '0';
  #failures = 0;
  #nonsense = 0;
  #inOne: boolean;
  /** What has come of a list that comes over the watch itself. */
  #coming: Map<string, T> | undefined;

  constructor(deps: WatchDeps, asked: WatchRequest<T>, signal: AbortSignal) {
    this.#deps = deps;
    this.#request = asked;
    this.#signal = signal;
    const { fieldSelector, labelSelector, inOne = false } = asked;
    this.#inOne = inOne;
    this.#selectors = {
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    };
  }

  /** Lists where need be and follows until the watch ends; where that fails, waits for the time of the next try. */
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
    this.#tell('replaced', (listener) => listener.replaced(items));
  }

  /** Resolves when the server ended the watch as it should. */
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
    this.#nonsense = 0;
  }

  #take(line: string): void {
    const { type, object } = parseEvent<T>(line, this.#request.path);
    if (type === 'ERROR') throw errorOf(object, this.#request.path);
    const version = object?.metadata?.resourceVersion;
    if (version === undefined || version === '') {
      throw new Nonsense('unavailable', `watch of ${this.#request.path}: an event without a resourceVersion`);
    }
    if (this.#coming !== undefined && !this.#takeOfList(this.#coming, type, object)) return;
    switch (type) {
      case 'ADDED':
      case 'MODIFIED':
        this.#tell('changed', (listener) => listener.changed(object));
        break;
      case 'DELETED':
        this.#tell('removed', (listener) => listener.removed(object));
        break;
      case 'BOOKMARK':
        break;
      default:
        throw new Nonsense('unavailable', `watch of ${this.#request.path}: unknown event ${JSON.stringify(type)}`);
    }
    this.#version = version;
    this.#atLeast = version;
    this.#noteProgress();
  }

  /** Whether the event is one for everybody: before the list is whole, none is. */
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
        this.#tell('replaced', (listener) => listener.replaced([...coming.values()]));
        return true;
      default:
        return true;
    }
  }

  #tell(what: keyof WatchRequest<T>['listener'], call: (listener: WatchRequest<T>['listener']) => void): void {
    if (this.#signal.aborted) return;
    try {
      call(this.#request.listener);
    } catch (err) {
      this.#deps.log.error('Failed to process watch event', { path: this.#request.path, what, err });
    }
  }

  /**
   * The server learns of a new pod, and so of what its node may read, a moment after the node may have: a refusal of the very first
   * list is soon asked about again.
   */
  #backOff(code: string): number {
    const early = code === 'denied' && this.#atLeast === '0' ? EARLY_TRIES : 0;
    if (this.#failures <= early) return FIRST_REFUSED_MS * 2 ** (this.#failures - 1);
    return Math.min(FIRST_BACK_OFF_MS * 2 ** Math.max(this.#failures - 2 - early, 0), LONGEST_BACK_OFF_MS);
  }

  async #recover(error: unknown): Promise<void> {
    const { log, clock, random, reachability } = this.#deps;
    const { path } = this.#request;
    if (error instanceof Nonsense) this.#nonsense += 1;
    if (codeOf(error) === 'gone' || this.#nonsense >= MOST_NONSENSE || isTooNew(error)) {
      // Was it the list itself that failed, then nothing but the newest state will do.
      if (this.#version === undefined) this.#atLeast = '';
      this.#version = undefined;
      this.#nonsense = 0;
    }
    if (this.#inOne && this.#version === undefined && codeOf(error) === 'invalid') {
      log.info('The API server gives no list over a watch: asking for it apart', { path });
      this.#inOne = false;
      return;
    }
    this.#failures += 1;
    const code = codeOf(error);
    const wasAnswered = answerOf(error).httpStatus !== undefined;
    // The first time at once: most ends are a restart of the server or a connection that was renewed.
    if (this.#failures === 1 && (code === 'gone' || (code === 'unavailable' && !wasAnswered))) {
      log.v(4)?.info('Watch ended, going on', { path, err: error });
      return;
    }
    const back = this.#backOff(code) * (1 + random());
    // That the server is away is said once for all watches; what it answers to one of them is news.
    const news = wasAnswered || error instanceof Nonsense ? log : log.v(2);
    news?.warn('Watch failed, trying again', { path, afterMs: Math.round(back), err: error });
    using waiting = linkSignal(this.#signal);
    const waits = [clock.sleep(back, waiting.signal)];
    if (code === 'unavailable') waits.push(reachability.back(waiting.signal));
    await Promise.race(waits).catch(() => undefined);
    waiting.abort('waited');
    for (const wait of waits) await wait.catch(() => undefined);
  }
}

/** The items of a list don't say what they are; those of a watch do. */
function itemsOf<T extends KubeObject>({ apiVersion, kind, items }: List<T>): readonly T[] {
  const own = kind?.endsWith('List') ? { apiVersion, kind: kind.slice(0, -'List'.length) } : {};
  // An item that is no object of the API must not cost the whole list.
  return (items ?? []).filter(isObject).map((item) => ({ ...own, ...item }));
}

function parseEvent<T>(line: string, path: string): WatchEvent<T> {
  try {
    const event: unknown = JSON.parse(line);
    if (typeof event === 'object' && event !== null && 'type' in event && 'object' in event) {
      return event as WatchEvent<T>;
    }
  } catch (cause) {
    throw new Nonsense('unavailable', `watch of ${path}: a line is no JSON`, { cause });
  }
  throw new Nonsense('unavailable', `watch of ${path}: a line is no event`);
}

function errorOf(object: unknown, path: string): CodedError {
  const what = `watch of ${path}`;
  if (!isStatus(object)) return new Nonsense('unavailable', `${what}: an error without a status`);
  const error = refusalError({
    what,
    httpStatus: object.code ?? 500,
    body: JSON.stringify(object),
    retryAfterMs: undefined,
  });
  return error.code === 'gone' ? error : new Nonsense(error.code, error.message, { data: error.data });
}

function answerOf(error: unknown): KubeErrorData {
  return error instanceof CodedError ? error.data : {};
}

/** The server, perhaps another one than before, has not yet seen the version that was asked for. */
function isTooNew(error: unknown): boolean {
  return answerOf(error).status?.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') ?? false;
}

function isObject(item: KubeObject | null | undefined): boolean {
  return typeof item?.metadata === 'object' && item.metadata !== null;
}
