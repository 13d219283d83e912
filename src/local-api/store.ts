/**
 * The objects of the local API: in memory, each change in a journal on disk before anyone sees it. Every change has a revision, by which watches go on after an
 * interruption. Changes are decided one after the other on the newest state; those that come while the disk is busy are written together.
 */
import { CodedError, describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Journal } from './journal.ts';
import { type Change, createHistory, type History } from './rules/history.ts';
import type { ApiObject } from './rules/objects.ts';
import type { JournalRecord } from './rules/record.ts';

/** `pods`, `default`, `web`; the namespace is empty for objects without one. */
export interface ObjectKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** `memory`: never on disk. `lazy`: on disk when the kernel writes it. `safe`: survives a power failure from the answer on. */
export type Keeping = 'memory' | 'lazy' | 'safe';

export type Decision =
  /** Without its version, which the store gives. */
  | { readonly kind: 'put'; readonly object: ApiObject; readonly keeping: Keeping }
  | { readonly kind: 'remove'; readonly last: ApiObject; readonly keeping: Keeping }
  /** Nothing changes. */
  | { readonly kind: 'none' };

export interface Store extends Part {
  get(key: ObjectKey): ApiObject | undefined;
  /** All namespaces where `namespace` is empty; in the order of namespace and name. */
  list(resource: string, namespace: string): readonly ApiObject[];
  revision(): number;
  /** What was stored is known, and changes can be stored. Before, and where it fails to start, there is nothing, and nothing can be changed. */
  isOpen(): boolean;
  /** Decides on the newest state, and resolves with the object as it is kept once it is. What `decide` throws is passed on, and nothing changes. */
  change(key: ObjectKey, decide: (current: ApiObject | undefined) => Decision): Promise<ApiObject | undefined>;
  /** Every change after `since`, in order, until the function that it returns is called. Undefined: some of them are forgotten. */
  watch(since: number, listener: (change: Change) => void): (() => void) | undefined;
}

export interface StoreConfig {
  /** Changes that are kept for watches, as bytes of JSON. */
  readonly historyBytes: number;
  /** A journal is not written again before it is this long. */
  readonly rewriteBytes: number;
}

export const DEFAULT_STORE: StoreConfig = { historyBytes: 1 << 20, rewriteBytes: 4 << 20 };

/** How many times as long as its objects a journal gets. */
const MOST_OLD = 3;
const GUESSED_BYTES = 512;

interface Pending {
  readonly record: JournalRecord;
  readonly change: Change;
  readonly keeping: Keeping;
  readonly done: PromiseWithResolvers<ApiObject | undefined>;
}

const pathOf = ({ resource, namespace, name }: ObjectKey): string => `${resource}/${namespace}/${name}`;

export function createStore(deps: StoreDeps, config: StoreConfig = DEFAULT_STORE): Store {
  return new JournaledStore(deps, config);
}

export interface StoreDeps {
  readonly log: Logger;
  readonly journal: Journal;
}

class JournaledStore implements Store {
  readonly name = 'store of the local API';
  readonly #deps: StoreDeps;
  readonly #config: StoreConfig;
  readonly #objects = new Map<string, ApiObject>();
  /** What is decided and not yet on disk. */
  readonly #ahead = new Map<string, ApiObject | undefined>();
  readonly #inMemory = new Set<string>();
  readonly #history: History;
  readonly #listeners = new Set<(change: Change) => void>();
  #revision = 1;
  #nextRevision = 1;
  #queue: Pending[] = [];
  #writing: Promise<void> | undefined;
  /** How long the journal was when it had nothing old in it. */
  #freshBytes = 0;
  #isOpen = false;

  constructor(deps: StoreDeps, config: StoreConfig) {
    this.#deps = deps;
    this.#config = config;
    this.#history = createHistory(config.historyBytes);
  }

  async start(): Promise<void> {
    const { journal } = this.#deps;
    const { isDamaged } = await journal.open(({ revision, key, object }) => {
      if (object === undefined) this.#objects.delete(key);
      else this.#objects.set(key, object);
      this.#revision = Math.max(this.#revision, revision);
    });
    // A journal that was written again lacks removals: a watch from before this start has to list again.
    this.#history.begin(this.#revision);
    this.#nextRevision = this.#revision;
    if (isDamaged) await journal.rewrite(this.#records());
    this.#freshBytes = journal.bytes();
    this.#isOpen = true;
  }

  async stop(): Promise<void> {
    await this.#writing;
    await this.#deps.journal.close();
  }

  get(key: ObjectKey): ApiObject | undefined {
    return this.#objects.get(pathOf(key));
  }

  list(resource: string, namespace: string): readonly ApiObject[] {
    const prefix = namespace === '' ? `${resource}/` : `${resource}/${namespace}/`;
    const found = [...this.#objects].filter(([path]) => path.startsWith(prefix));
    return found.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object);
  }

  isOpen(): boolean {
    return this.#isOpen;
  }

  revision(): number {
    return this.#revision;
  }

  change(key: ObjectKey, decide: (current: ApiObject | undefined) => Decision): Promise<ApiObject | undefined> {
    const path = pathOf(key);
    const before = this.#ahead.has(path) ? this.#ahead.get(path) : this.#objects.get(path);
    let decision: Decision;
    try {
      decision = decide(before);
    } catch (error) {
      return Promise.reject(error);
    }
    if (decision.kind === 'none') return Promise.resolve(before);
    this.#nextRevision += 1;
    const revision = this.#nextRevision;
    const made = withVersion(decision.kind === 'put' ? decision.object : decision.last, String(revision));
    const after = decision.kind === 'put' ? made : undefined;
    const done = Promise.withResolvers<ApiObject | undefined>();
    this.#ahead.set(path, after);
    // A watch shows the last state of a removed object under the version of its removal.
    const change = { revision, resource: key.resource, before: after === undefined ? made : before, after };
    this.#queue.push({ record: { revision, key: path, object: after }, change, keeping: decision.keeping, done });
    this.#writing ??= this.#flush();
    return done.promise;
  }

  watch(since: number, listener: (change: Change) => void): (() => void) | undefined {
    const missed = this.#history.since(since);
    if (missed === undefined) return undefined;
    for (const change of missed) listener(change);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #flush(): Promise<void> {
    // Changes of the same turn are written together.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#write(batch.filter(({ keeping }) => keeping !== 'memory'));
      } catch (error) {
        this.#refuse(batch, error);
        continue;
      }
      for (const pending of batch) this.#settle(pending);
      await this.#rewriteIfOld();
    }
    this.#writing = undefined;
  }

  async #write(batch: readonly Pending[]): Promise<void> {
    if (batch.length === 0) return;
    const sync = batch.some(({ keeping }) => keeping === 'safe');
    const records = batch.map(({ record }) => record);
    await this.#deps.journal.append(records, { sync });
  }

  /** Changes that came later were decided on top of these: all of them are refused. */
  #refuse(batch: readonly Pending[], error: unknown): void {
    const lost = [...batch, ...this.#queue];
    this.#queue = [];
    this.#ahead.clear();
    const err = describeError(error);
    this.#deps.log.error('Failed to store changes of the local API', { changes: lost.length, err });
    for (const { done } of lost) done.reject(storageError(error));
  }

  #settle({ record: { key, object, revision }, change, keeping, done }: Pending): void {
    if (object === undefined) this.#objects.delete(key);
    else this.#objects.set(key, object);
    if (keeping === 'memory') this.#inMemory.add(key);
    this.#revision = revision;
    this.#history.add(change, GUESSED_BYTES + (object === undefined ? 0 : JSON.stringify(object).length));
    if (this.#ahead.get(key) === object) this.#ahead.delete(key);
    done.resolve(change.after ?? change.before);
    for (const listener of [...this.#listeners]) this.#notify(listener, change);
  }

  /** One watcher that fails must not keep the change from the others. */
  #notify(listener: (change: Change) => void, change: Change): void {
    try {
      listener(change);
    } catch (err) {
      this.#deps.log.error('Failed to process watch event', { resource: change.resource, err });
    }
  }

  async #rewriteIfOld(): Promise<void> {
    const { journal, log } = this.#deps;
    if (journal.bytes() < Math.max(this.#config.rewriteBytes, MOST_OLD * this.#freshBytes)) return;
    await journal.rewrite(this.#records()).catch((error: unknown) => {
      // The old file is whole, and a disk that is full now may not be later.
      log.warn('Failed to write the journal of the local API again', { err: describeError(error) });
    });
    this.#freshBytes = journal.bytes();
  }

  /** The newest revision comes last even if its object is gone: no revision is ever given twice. */
  *#records(): Generator<JournalRecord> {
    for (const [key, object] of this.#objects) {
      if (!this.#inMemory.has(key)) yield { revision: Number(object.metadata.resourceVersion), key, object };
    }
    yield { revision: this.#revision, key: 'revision//', object: undefined };
  }
}

const withVersion = (object: ApiObject, resourceVersion: string): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});

/** The error codes of a disk without room. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

function storageError(error: unknown): CodedError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = NO_ROOM.has(code)
    ? `the disk of the node is full (${code}); nothing was changed`
    : `the change could not be written to disk; nothing was changed`;
  return new CodedError(NO_ROOM.has(code) ? 'exhausted' : 'internal', text, { cause: error });
}
