/**
 * Strategy `Watch`: one watch for each object that pods here refer to. It ends with the last pod, when the object turns out to be
 * immutable, and, where no volume shows the object, when no caller has requested it for a long time.
 */
import { type ApiPath, fieldEquals } from '../api/api-path.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Kube } from '../kube/kube.ts';
import { createGate, type Gate } from './gate.ts';
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

export interface WatchedObjectsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly kube: Pick<Kube, 'watch'>;
  readonly notify: NotifyChange;
}

export interface WatchedObjectsConfig {
  readonly kind: ObjectKind;
  /** A watch that no volume needs ends when no caller has requested the object for this time. */
  readonly idleMs: number;
}

/** As long as the reference waits for a first answer. */
const FIRST_ANSWER_MS = 1000;
const LOOK_FOR_IDLE_MS = 60_000;

export function createWatchedObjects<T extends KeepableObject>(
  deps: WatchedObjectsDeps,
  config: WatchedObjectsConfig,
): KeptObjects<T> {
  const { clock } = deps;
  const entries = new Map<string, Entry<T>>();
  let running: AbortSignal | undefined;
  let sweeping: Promise<void> = Promise.resolve();

  const sweep = () => {
    for (const entry of entries.values()) entry.endIfIdle(config.idleMs);
  };

  return {
    name: `${config.kind.singular} watches`,
    refer: (referred) => {
      for (const [key, entry] of entries) {
        if (referred.has(key)) continue;
        entries.delete(key);
        entry.end();
      }
      for (const [key, reference] of referred) {
        const entry = entries.get(key) ?? new Entry<T>(deps, config.kind, reference);
        entry.byVolume = reference.byVolume;
        entries.set(key, entry);
        if (running !== undefined) entry.ensureWatch(running);
      }
    },
    get: (namespace, name, signal) => {
      const entry = entries.get(keyOf(namespace, name));
      if (entry === undefined) return Promise.reject(new CodedError('unavailable', notRegistered(namespace, name)));
      if (running !== undefined) entry.ensureWatch(running);
      return entry.get(signal);
    },
    start: (signal) => {
      running = signal;
      for (const entry of entries.values()) entry.ensureWatch(signal);
      const rest = () => clock.sleep(LOOK_FOR_IDLE_MS, signal);
      const about = { kind: config.kind.singular };
      const loop = { name: 'idle object watches', about, restFirst: true, pass: sweep, rest };
      sweeping = deps.supervisor.run(loop, signal);
    },
    stop: async () => {
      running = undefined;
      for (const entry of entries.values()) entry.end();
      await sweeping;
    },
  };
}

class Entry<T extends KeepableObject> {
  byVolume = false;
  readonly #deps: WatchedObjectsDeps;
  readonly #kind: ObjectKind;
  readonly #reference: Referred;
  readonly #known: Gate;
  #object: T | undefined;
  #watch: Part | undefined;
  #usedAt: number;
  /** Why it can't be requested at all. */
  #refusal: unknown;
  /** A caller has requested it and got no answer: the first answer is reported as a change. */
  #missed = false;

  constructor(deps: WatchedObjectsDeps, kind: ObjectKind, reference: Referred) {
    this.#deps = deps;
    this.#kind = kind;
    this.#reference = reference;
    this.#known = createGate(deps.clock);
    this.#usedAt = deps.clock.mono();
  }

  ensureWatch(signal: AbortSignal): void {
    if (this.#watch !== undefined || this.#object?.immutable === true) return;
    const { namespace, name } = this.#reference;
    let path: ApiPath;
    try {
      path = pathOf(this.#kind, namespace);
    } catch (error) {
      // One bad reference must not keep the others from being watched: a caller that requests it gets the error.
      this.#refusal = error;
      return;
    }
    const watch = this.#deps.kube.watch<T>({
      path,
      fieldSelector: fieldEquals('metadata.name', name),
      inOne: true,
      listener: {
        replaced: ([object]) => this.#learn(watch, object),
        changed: (object) => this.#learn(watch, object),
        removed: () => this.#learn(watch, undefined),
      },
    });
    this.#watch = watch;
    void this.#attempt('start', () => watch.start(signal));
  }

  async get(signal: AbortSignal): Promise<ObjectAnswer<T>> {
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#usedAt = this.#deps.clock.mono();
    const { name } = this.#reference;
    const { singular } = this.#kind;
    if (!(await this.#known.wait(FIRST_ANSWER_MS, signal))) {
      this.#missed = true;
      throw new CodedError('unavailable', `failed to sync ${singular} cache: timed out waiting for the condition`);
    }
    if (this.#object !== undefined) return { kind: 'found', object: this.#object };
    return { kind: 'missing', message: `${singular} ${JSON.stringify(name)} not found` };
  }

  end(): void {
    const watch = this.#watch;
    this.#watch = undefined;
    if (watch !== undefined) void this.#attempt('stop', () => watch.stop?.());
  }

  endIfIdle(idleMs: number): void {
    // A watch that was never answered goes on: a second one would only add load to the server.
    if (this.#watch === undefined || this.byVolume || !this.#known.isOpen) return;
    if (this.#deps.clock.mono() - this.#usedAt <= idleMs) return;
    this.end();
    this.#known.close();
  }

  #learn(from: Part, object: T | undefined): void {
    if (from !== this.#watch) return;
    const isNew = object?.metadata.resourceVersion !== this.#object?.metadata.resourceVersion;
    const first = !this.#known.isOpen;
    this.#object = object;
    this.#known.open();
    if (object?.immutable === true) this.end();
    const notify = first ? this.#missed : isNew;
    this.#missed = false;
    if (notify) this.#deps.notify(this.#reference);
  }

  async #attempt(what: string, call: () => Promise<void> | void): Promise<void> {
    try {
      await call();
    } catch (error) {
      const { namespace, name } = this.#reference;
      const object = `${namespace}/${name}`;
      this.#deps.log.warn(`Failed to ${what} watching object`, { object, err: describeError(error) });
    }
  }
}
