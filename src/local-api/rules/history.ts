/** The latest changes, so that a watch that was interrupted can go on where it was. Bounded by the size of what it holds. */
import type { ApiObject } from './objects.ts';

export interface Change {
  readonly revision: number;
  /** `pods`: the resource in the store. */
  readonly resource: string;
  /** Undefined: it was created. */
  readonly before: ApiObject | undefined;
  /** Undefined: it was removed. */
  readonly after: ApiObject | undefined;
}

export interface History {
  /** Nothing is known of the time before this revision. */
  begin(revision: number): void;
  add(change: Change, bytes: number): void;
  /** All changes after this revision, in order; undefined where some of them are forgotten. */
  since(revision: number): readonly Change[] | undefined;
}

export function createHistory(mostBytes: number): History {
  let entries: { readonly change: Change; readonly bytes: number }[] = [];
  let held = 0;
  /** Changes up to this revision are forgotten. */
  let forgotten = 0;
  let first = 0;

  const forgetOldest = (): void => {
    const oldest = entries[first];
    if (oldest === undefined) return;
    held -= oldest.bytes;
    forgotten = oldest.change.revision;
    first += 1;
    // Cut off in one go now and then: shifting the list each time would cost as much as the list is long.
    if (first <= entries.length / 2) return;
    entries = entries.slice(first);
    first = 0;
  };

  return {
    begin: (revision) => {
      forgotten = revision;
    },
    add: (change, bytes) => {
      entries.push({ change, bytes });
      held += bytes;
      while (held > mostBytes && entries.length - first > 1) forgetOldest();
    },
    since: (revision) => {
      if (revision < forgotten) return undefined;
      return entries.slice(first).flatMap(({ change }) => (change.revision > revision ? [change] : []));
    },
  };
}
