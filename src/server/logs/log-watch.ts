/** Notifies readers of a log when it grows or its files are renamed: one watch for all readers of the same log. */
import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { IN, type Inotify, type InotifyEvent } from '../../host/inotify.ts';
import { rotatedName } from './rules/rotated-names.ts';

export interface LogWatches {
  /** Watches from now on until it is closed. Throws if the directory can't be watched. */
  watch(path: string, listener: () => void): LogWatch;
}

export interface LogWatch {
  /** Changes whenever a file of the log was created, removed or renamed. */
  moves(): number;
  /** The name that the file got when it was rotated, if that was seen: the one that follows the file `after`. */
  nameOf(inode: number, after: string): string | undefined;
  /** The rotated file of that name is not written any more. */
  isClosed(name: string): boolean;
  close(): void;
}

interface Watched {
  readonly listeners: Set<() => void>;
  readonly names: Map<number, string>;
  /** Every name that a file got, also of files that were removed before they could be read. */
  readonly seen: Set<string>;
  readonly closed: Set<string>;
  moves: number;
  close(): void;
}

const MASK = IN.modify | IN.closeWrite | IN.movedFrom | IN.movedTo | IN.create | IN.delete;
const MOVED = IN.movedFrom | IN.movedTo | IN.create | IN.delete | IN.overflow | IN.ignored;
/** The shortest time between two reads: many lines at once cost little more than one. */
const GAP_MS = 20;
/** A reader that is more rotations behind finds the names by listing the directory. */
const REMEMBERED = 256;

export function createLogWatches({ inotify, clock }: { readonly inotify: Inotify; readonly clock: Clock }): LogWatches {
  const watched = new Map<string, Watched>();

  const open = (path: string): Watched => {
    const ended = new AbortController();
    const [directory, log] = [dirname(path), basename(path)];
    const wake = createPacer(clock, ended.signal, () => {
      for (const listener of entry.listeners) listener();
    });
    const watch = inotify.watch(directory, MASK, (event) => {
      if (event.name !== log && event.name !== '' && rotatedName(event.name, log) === undefined) return;
      note(entry, event, { directory, log });
      wake();
    });
    const close = () => {
      ended.abort('no one reads the log any more');
      watch.close();
    };
    const entry: Watched = {
      listeners: new Set(),
      names: new Map(),
      seen: new Set(),
      closed: new Set(),
      moves: 0,
      close,
    };
    return entry;
  };

  return {
    watch: (path, listener) => {
      const entry = watched.get(path) ?? open(path);
      watched.set(path, entry);
      entry.listeners.add(listener);
      return {
        moves: () => entry.moves,
        nameOf: (inode, after) => {
          const name = entry.names.get(inode);
          return name !== undefined && name > after ? name : entry.seen.values().find((one) => one > after);
        },
        isClosed: (name) => entry.closed.has(name),
        close: () => {
          if (!entry.listeners.delete(listener) || entry.listeners.size > 0) return;
          watched.delete(path);
          entry.close();
        },
      };
    },
  };
}

function note(
  entry: Watched,
  { mask, name }: InotifyEvent,
  place: { readonly directory: string; readonly log: string },
): void {
  if (mask & MOVED) entry.moves += 1;
  if (name === place.log || rotatedName(name, place.log) !== name) return;
  if (mask & IN.closeWrite) remember(entry.closed, (set) => set.add(name));
  if (mask & IN.movedTo) {
    remember(entry.seen, (set) => set.add(name));
    // Its inode number can be reused once it is removed, but not while a reader has it open.
    const inode = lstatSync(join(place.directory, name), { throwIfNoEntry: false })?.ino;
    if (inode !== undefined) remember(entry.names, (map) => map.set(inode, name));
  }
}

function remember<T extends Map<number, string> | Set<string>>(kept: T, add: (kept: T) => void): void {
  add(kept);
  if (kept.size > REMEMBERED) kept.delete(kept.keys().next().value as never);
}

/** Calls at once after a pause, otherwise when the gap since the last call is over. */
function createPacer(clock: Clock, signal: AbortSignal, call: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY;
  let isWaiting = false;
  const fire = () => {
    isWaiting = false;
    last = clock.mono();
    call();
  };
  return () => {
    if (isWaiting) return;
    const wait = last + GAP_MS - clock.mono();
    if (wait <= 0) {
      fire();
      return;
    }
    isWaiting = true;
    clock.sleep(wait, signal).then(fire, () => {
      isWaiting = false;
    });
  };
}
