/**
 * Follows a log across rotations. The file that is read stays open, so it can be renamed, compressed or removed meanwhile; the next
 * file is found by the names of rotated files, which sort by age.
 *
 *   written ──renamed──► rotated ──read to its end──► between ──its successor exists──► written or rotated
 */
import type { Clock } from '../../base/clock.ts';
import { createWakeBit } from '../../base/wake.ts';
import type { LogCursor } from './log-cursor.ts';
import type { LogFiles, OpenLog } from './log-files.ts';
import type { LogWatch, LogWatches } from './log-watch.ts';

export interface Followed {
  isRunning(): boolean;
  /** Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

export interface FollowDeps {
  readonly clock: Clock;
  readonly files: LogFiles;
  readonly cursor: LogCursor;
  readonly watch: LogWatch;
  readonly followed: Followed;
}

export type Place =
  /** The current file, after the rotated one of that name. */
  | { readonly kind: 'written'; readonly file: OpenLog; readonly after: string }
  | { readonly kind: 'rotated'; readonly file: OpenLog; readonly name: string }
  /** All up to that name is read. `done`: the file of that name, kept open so that no other file gets its inode number. */
  | { readonly kind: 'between'; readonly after: string; readonly done: OpenLog | undefined };

/** After this time without a change the runtime does not write to a rotated file any more. */
const SETTLED_MS = 150;

/** Until the container has ended and its whole log was read, or the limit is reached. */
export async function followLog(deps: FollowDeps, wake: WakeSource, start: Place, signal: AbortSignal): Promise<void> {
  const { cursor, watch, followed } = deps;
  let place = start;
  let seen = -1;
  try {
    while (!cursor.isFull()) {
      // Checked before reading: everything written before the end of the container is then read.
      const wasRunning = followed.isRunning();
      const hasMoved = watch.moves() !== seen;
      seen = watch.moves();
      const next = await readOn(deps, place, { askForName: hasMoved || !wasRunning, signal });
      if (next !== undefined) place = next;
      else if (!wasRunning) return;
      else await wake.wait(signal);
    }
  } finally {
    await (place.kind === 'between' ? place.done : place.file)?.close();
  }
}

export interface WakeSource extends Disposable {
  readonly watch: LogWatch;
  wait(signal: AbortSignal): Promise<void>;
}

/** Subscribes at once: changes before the first wait are not lost. */
export function listenTo(watches: LogWatches, path: string, followed: Followed): WakeSource {
  const bit = createWakeBit();
  const watch = watches.watch(path, bit.wake);
  const stop = followed.onChange(bit.wake);
  return {
    watch,
    wait: bit.wait,
    [Symbol.dispose]: () => {
      stop();
      watch.close();
    },
  };
}

interface ReadOn {
  readonly askForName: boolean;
  readonly signal: AbortSignal;
}

/** Reads everything available; resolves with the next place, or undefined if there is nothing more for now. */
async function readOn(deps: FollowDeps, place: Place, { askForName, signal }: ReadOn): Promise<Place | undefined> {
  const { cursor } = deps;
  if (place.kind === 'between') return nextPlace(deps, place);
  if (place.kind === 'rotated') {
    await finish(deps, place, signal);
    return { kind: 'between', after: place.name, done: place.file };
  }
  await cursor.readAppended(place.file);
  const name = askForName ? await rotatedAs(deps, place) : undefined;
  return name === undefined ? undefined : { kind: 'rotated', file: place.file, name };
}

async function nextPlace({ files, cursor }: FollowDeps, { after, done }: Place & { kind: 'between' }) {
  const next = await files.openAfter(after);
  if (next === undefined) return undefined;
  await done?.close();
  // A failed rotation was reverted: it is the same file, and reading continues.
  if (next.file.inode !== done?.inode) {
    if (next.afterGap) await cursor.skipGap();
    cursor.begin(0, 0);
  }
  const { file, name } = next;
  return name === undefined ? ({ kind: 'written', file, after } as const) : ({ kind: 'rotated', file, name } as const);
}

/** The current name of the file; undefined while it is not rotated. */
async function rotatedAs({ files, watch }: FollowDeps, { file, after }: Place & { kind: 'written' }) {
  const { current, older } = await files.openAll();
  await current?.close();
  if (current?.inode === file.inode) return undefined;
  // If the rename was not seen, it is the first file after the previous one; none: it was removed, and the next one is new.
  return watch.nameOf(file.inode, after) ?? older.find((name) => name > after) ?? after;
}

/** The runtime may still write its last lines to a file that was just rotated. */
async function finish(
  { clock, cursor, watch }: FollowDeps,
  { file, name }: Place & { kind: 'rotated' },
  signal: AbortSignal,
) {
  if (!file.isCompressed && !watch.isClosed(name)) {
    await cursor.readToEnd(file);
    await settle(clock, file, signal);
  }
  await cursor.readToEnd(file);
}

/** Waits until the file has not changed for a while. False: no wait was necessary. */
export async function settle(clock: Clock, { handle }: OpenLog, signal: AbortSignal): Promise<boolean> {
  const { ctimeMs } = await handle.stat();
  const rest = Math.min(SETTLED_MS, ctimeMs + SETTLED_MS - clock.now());
  if (rest <= 0) return false;
  await clock.sleep(rest, signal);
  return true;
}
