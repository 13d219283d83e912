/**
 * Who is told of news, each behind a guard: what one of them throws stops neither the others nor the sender. A listener that failed
 * is told the latest news of the same object again, after a back-off, unless newer news come before.
 */
import type { Clock } from './clock.ts';
import type { LogValues } from './logger.ts';
import type { Supervisor } from './supervise.ts';

export interface Listeners<T> {
  /** Answers how to stop listening. */
  add(name: string, listener: (news: T) => void): () => void;
  tell(news: T): void;
  /** Nothing is told again from here on. */
  stop(): void;
}

export interface ListenersDeps<T> {
  readonly supervisor: Pick<Supervisor, 'guard'>;
  readonly clock: Clock;
  /** The object that the news are about. */
  readonly keyOf: (news: T) => string;
  /** For the log. */
  readonly about: (news: T) => LogValues;
}

interface Listener<T> {
  readonly name: string;
  readonly listen: (news: T) => void;
  /** The objects of which it has missed the latest news, with what takes back the next try. */
  readonly missed: Map<string, AbortController>;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
/** About a quarter of an hour. What fails so often with the same news waits for other news. */
const MOST_TRIES = 20;
const OVER = 'newer news';

export function createListeners<T>({ supervisor, clock, keyOf, about }: ListenersDeps<T>): Listeners<T> {
  const listeners = new Set<Listener<T>>();
  let isStopped = false;

  const call = (listener: Listener<T>, news: T, tries: number): void => {
    const key = keyOf(news);
    listener.missed.get(key)?.abort(OVER);
    listener.missed.delete(key);
    if (supervisor.guard(listener.name, about(news), () => listener.listen(news))) return;
    if (isStopped || tries >= MOST_TRIES) return;
    const retry = new AbortController();
    listener.missed.set(key, retry);
    clock.sleep(Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), LONGEST_RETRY_MS), retry.signal).then(
      () => call(listener, news, tries + 1),
      () => undefined, // there are newer news, or no one listens any more
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
    tell: (news) => {
      for (const listener of listeners) call(listener, news, 1);
    },
    stop: () => {
      isStopped = true;
      listeners.forEach(forget);
    },
  };
}
