/**
 * A signal that aborts when any of its parents does, or after a time, and that lets go of them when it is disposed.
 * `AbortSignal.any` and `AbortSignal.timeout` keep composites and timers alive for as long as a parent lives; a node agent
 * makes one for every call, so they are banned outside this file.
 */
import type { Clock } from './clock.ts';
import { CodedError } from './errors.ts';

export interface LinkedSignal extends Disposable {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

export function linkSignal(...parents: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const listeners = new Map<AbortSignal, () => void>();
  const unlink = () => {
    for (const [parent, listener] of listeners) parent.removeEventListener('abort', listener);
    listeners.clear();
  };
  const abort = (reason: unknown) => {
    unlink();
    controller.abort(reason);
  };
  for (const parent of parents) {
    if (parent.aborted) {
      abort(parent.reason);
      break;
    }
    const listener = () => abort(parent.reason);
    listeners.set(parent, listener);
    parent.addEventListener('abort', listener, { once: true });
  }
  return { signal: controller.signal, abort, [Symbol.dispose]: unlink };
}

/** An abort without a reason makes a DOMException with a stack, six times the cost of the abort itself. */
const DISPOSED = 'disposed';

/** A linked signal that also aborts with a `deadline` error after `ms`. Dispose it (`using`) when the call is over. */
export function withDeadline(clock: Clock, ms: number, what: string, ...parents: readonly AbortSignal[]): LinkedSignal {
  const linked = linkSignal(...parents);
  const timer = new AbortController();
  clock.sleep(ms, timer.signal).then(
    () => linked.abort(new CodedError('deadline', `${what}: no answer within ${ms} ms`)),
    () => undefined, // disposed before the deadline
  );
  return {
    signal: linked.signal,
    abort: linked.abort,
    [Symbol.dispose]: () => {
      timer.abort(DISPOSED);
      linked[Symbol.dispose]();
    },
  };
}
