/**
 * Follows a log across rotations. The file that is read stays open, so it can be renamed, compressed or removed meanwhile; where to
 * go on is found by the names of rotated files, which sort by age.
 *
 *   written ──it got a name──► rotated ──read to its end──► between ──its successor is there──► written or rotated
 */
import type { Clock } from '../../base/clock.ts';
import { createWakeBit } from '../../base/wake.ts';
import type { LogCursor } from './log-cursor.ts';
import type { LogFiles, OpenLog } from './log-files.ts';
import type { LogWatch, LogWatches } from './log-watch.ts';

export interface Followed {
  isRunning(): boolean;
  /** Answers how to stop listening. */
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
  /** The file that is written, after the rotated one of that name. */
  | { readonly kind: 'written'; readonly file: OpenLog; readonly after: string }
  | { readonly kind: 'rotated'; readonly file: OpenLog; readonly name: string }
  /** All up to that name is read. `done`: the file of that name, kept so that nothing else gets its number. */
  | { readonly kind: 'between'; readonly after: string; readonly done: OpenLog | undefined };

/** After this time without a change no one writes any more to a file that the runtime was told to leave. */
const SETTLED_MS = 150;

/** Until the container has ended and all of its log was read, or there was as much as is wanted. */
export async function followLog(deps: FollowDeps, wake: WakeSource, start: Place, signal: AbortSignal): Promise<void> {
  const { cursor, watch, followed } = deps;
  let place = start;
  let seen = -1;
  try {
    while (!cursor.isFull()) {
      // Asked before looking: what was written before the end is read after it.
      const wasRunning = followed.isRunning();
      const hasMoved = watch.moves() !== seen;
      seen = watch.moves();
      const next = await lookAgain(deps, place, { askForName: hasMoved || !wasRunning, signal });
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

/** Listens from now on: what happens before the first wait is not lost. */
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

interface Look {
  readonly askForName: boolean;
  readonly signal: AbortSignal;
}

/** Reads what there is; answers where to go on at once, undefined if there is nothing more for now. */
async function lookAgain(deps: FollowDeps, place: Place, { askForName, signal }: Look): Promise<Place | undefined> {
  const { cursor } = deps;
  if (place.kind === 'between') return nextPlace(deps, place);
  if (place.kind === 'rotated') {
    await finish(deps, place, signal);
    return { kind: 'between', after: place.name, done: place.file };
  }
  await cursor.readNews(place.file);
  const name = askForName ? await rotatedAs(deps, place) : undefined;
  return name === undefined ? undefined : { kind: 'rotated', file: place.file, name };
}

async function nextPlace({ files, cursor }: FollowDeps, { after, done }: Place & { kind: 'between' }) {
  const next = await files.openAfter(after);
  if (next === undefined) return undefined;
  await done?.close();
  // A rotation that failed was taken back: it is the same file, and it is read on.
  if (next.file.inode !== done?.inode) {
    if (next.afterGap) await cursor.skipGap();
    cursor.begin(0, 0);
  }
  const { file, name } = next;
  return name === undefined ? ({ kind: 'written', file, after } as const) : ({ kind: 'rotated', file, name } as const);
}

/** The name that the file has by now; undefined while it is the one that is written. */
async function rotatedAs({ files, watch }: FollowDeps, { file, after }: Place & { kind: 'written' }) {
  const { current, older } = await files.openAll();
  await current?.close();
  if (current?.inode === file.inode) return undefined;
  // Where no one saw it, it is the first that came after the one before it; none: it was taken away, and what comes is new.
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

/** Waits until the file has not changed for a while. False: it has not anyway. */
export async function settle(clock: Clock, { handle }: OpenLog, signal: AbortSignal): Promise<boolean> {
  const { ctimeMs } = await handle.stat();
  const rest = Math.min(SETTLED_MS, ctimeMs + SETTLED_MS - clock.now());
  if (rest <= 0) return false;
  await clock.sleep(rest, signal);
  return true;
}
