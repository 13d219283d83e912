/** Items that are due at a time, handed out in order by one timer for all of them. */
import type { Clock } from '../base/clock.ts';

export interface DueQueue<T> {
  /** Due at this monotonic time, in place of what was set for it before. */
  set(item: T, due: number): void;
  delete(item: T): void;
  /** From here on items are handed out; until the signal aborts. */
  start(signal: AbortSignal): void;
}

interface Entry<T> {
  readonly item: T;
  readonly due: number;
}

const REARMED = 'rearmed';

export function createDueQueue<T>(clock: Clock, onDue: (item: T, due: number) => void): DueQueue<T> {
  const heap: Entry<T>[] = [];
  // An entry of the heap that is not in here is stale: it was replaced or removed.
  const current = new Map<T, Entry<T>>();
  let running: AbortSignal | undefined;
  let timer: { readonly due: number; readonly controller: AbortController } | undefined;

  const first = (): Entry<T> | undefined => {
    for (let entry = heap[0]; entry !== undefined; entry = heap[0]) {
      if (current.get(entry.item) === entry) return entry;
      takeFirst(heap);
    }
    return undefined;
  };

  const handOut = (): void => {
    const now = clock.mono();
    for (let entry = first(); entry !== undefined && entry.due <= now; entry = first()) {
      takeFirst(heap);
      current.delete(entry.item);
      onDue(entry.item, entry.due);
    }
  };

  const arm = (): void => {
    if (running === undefined || running.aborted) return;
    const next = first();
    if (timer !== undefined && timer.due === next?.due) return;
    timer?.controller.abort(REARMED);
    timer = undefined;
    if (next === undefined) return;
    const own = { due: next.due, controller: new AbortController() };
    timer = own;
    clock.sleep(Math.max(next.due - clock.mono(), 0), own.controller.signal).then(
      () => {
        timer = undefined;
        handOut();
        arm();
      },
      () => undefined, // another one is due sooner, or the queue has stopped
    );
  };

  return {
    set: (item, due) => {
      const entry = { item, due };
      current.set(item, entry);
      insert(heap, entry);
      arm();
    },
    delete: (item) => {
      if (current.delete(item)) arm();
    },
    start: (signal) => {
      running = signal;
      signal.addEventListener('abort', () => timer?.controller.abort(signal.reason), { once: true });
      arm();
    },
  };
}

function insert<T>(heap: Entry<T>[], entry: Entry<T>): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || parent.due <= entry.due) return;
    heap[at] = parent;
    heap[above] = entry;
    at = above;
  }
}

function takeFirst<T>(heap: Entry<T>[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    if (left === undefined) break;
    const smaller = right !== undefined && right.due < left.due ? right : left;
    if (smaller.due >= last.due) break;
    heap[at] = smaller;
    at = smaller === left ? 2 * at + 1 : 2 * at + 2;
  }
  heap[at] = last;
}
