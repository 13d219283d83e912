/**
 * Notifies listeners of updates, each behind a guard: what one of them throws stops neither the others nor the sender. A listener that failed
 * gets the latest update of the same object again, after a back-off, unless a newer one comes before.
 */
import type { Clock } from './clock.ts';
import type { LogValues } from './logger.ts';
import type { Supervisor } from './supervise.ts';

export interface Listeners<T> {
  /** Answers how to stop listening. */
  add(name: string, listener: (update: T) => void): () => void;
  notify(update: T): void;
  /** No failed listener is notified again from here on. */
  stop(): void;
}

export interface ListenersDeps<T> {
  readonly supervisor: Pick<Supervisor, 'guard'>;
  readonly clock: Clock;
  /** The object that an update is about. */
  readonly keyOf: (update: T) => string;
  /** For the log. */
  readonly about: (update: T) => LogValues;
}

interface Listener<T> {
  readonly name: string;
  readonly listen: (update: T) => void;
  /** The objects whose latest update it has missed, with what cancels the next try. */
  readonly missed: Map<string, AbortController>;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
/** About a quarter of an hour. A listener that fails so often with the same update waits for another one. */
const MOST_TRIES = 20;
const OVER = 'newer update';

export function createListeners<T>({ supervisor, clock, keyOf, about }: ListenersDeps<T>): Listeners<T> {
  const listeners = new Set<Listener<T>>();
  let isStopped = false;

  const call = (listener: Listener<T>, update: T, tries: number): void => {
    const key = keyOf(update);
    listener.missed.get(key)?.abort(OVER);
    listener.missed.delete(key);
    if (supervisor.guard(listener.name, about(update), () => listener.listen(update))) return;
    if (isStopped || tries >= MOST_TRIES) return;
    const retry = new AbortController();
    listener.missed.set(key, retry);
    clock.sleep(Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), LONGEST_RETRY_MS), retry.signal).then(
      () => call(listener, update, tries + 1),
      () => undefined, // there is a newer update, or no one listens any more
    );
  };

  const forget = (listener: Listener<T>): void => {
    for (const retry of listener.missed.values()) retry.abort(OVER);
    listener.missed.clear();
  };

  return {
    add: (name, listen) => {
      const listener: Listener<T> = { name, listen, missed: new Map() };
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        forget(listener);
      };
    },
    notify: (update) => {
      for (const listener of listeners) call(listener, update, 1);
    },
    stop: () => {
      isStopped = true;
      listeners.forEach(forget);
    },
  };
}
