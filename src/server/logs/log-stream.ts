/**
 * One log as one stream: the rotated files from the oldest that is needed, the current one, and, for followers, everything written
 * later; each line once and in order, as far as it is on disk.
 */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { CutRequest } from './line-cutter.ts';
import { createLogCursor, type LogCursor, type LogSink } from './log-cursor.ts';
import { createLogFiles, type LogFiles, type LogPlace, type OpenLog } from './log-files.ts';
import { type Followed, followLog, listenTo, type Place, settle } from './log-follow.ts';
import { findTailStart, type LogStart } from './log-tail.ts';
import type { LogWatches } from './log-watch.ts';
import type { ReadBuffers } from './read-buffers.ts';

export interface LogStreamDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly buffers: ReadBuffers;
  readonly watches: LogWatches;
  readonly place: LogPlace;
}

export interface LogStreamRequest {
  /** The log file of the container. */
  readonly path: string;
  readonly cut: CutRequest;
  readonly tailLines: number | undefined;
  /** For followers. */
  readonly follow: Followed | undefined;
}

export async function streamLog(
  deps: LogStreamDeps,
  request: LogStreamRequest,
  sink: LogSink,
  signal: AbortSignal,
): Promise<void> {
  const { follow, path } = request;
  const files = createLogFiles(deps.place, path);
  const cursor = createLogCursor(deps, { cut: request.cut, sink }, signal);
  using wake = follow && listenTo(deps.watches, path, follow);
  const place = await readExisting({ ...deps, files, cursor }, request, signal);
  if (follow === undefined || wake === undefined) {
    if (place.kind !== 'between') await place.file.close();
    return;
  }
  await followLog({ clock: deps.clock, files, cursor, watch: wake.watch, followed: follow }, wake, place, signal);
}

interface Reading {
  readonly clock: Clock;
  readonly files: LogFiles;
  readonly cursor: LogCursor;
}

/** Reads everything from the start of the request; resolves with the place where that ended. */
async function readExisting(reading: Reading, request: LogStreamRequest, signal: AbortSignal): Promise<Place> {
  const { files, cursor } = reading;
  const { current, older } = await openSettled(reading, signal);
  const after = older.at(-1) ?? '';
  try {
    const size = current === undefined ? 0 : (await current.handle.stat()).size;
    const start = await findStart(files, { current, size, older }, request.tailLines, signal);
    await readOlder(reading, older, start);
    if (current === undefined) return { kind: 'between', after, done: undefined };
    cursor.begin(start.name === undefined ? start.offset : 0, 0);
    // Without following, the client gets the log at the time of the request, even if it grows faster than the client reads.
    await cursor.readToEnd(current, request.follow === undefined ? size : undefined);
    return { kind: 'written', file: current, after };
  } catch (error) {
    await current?.close();
    throw error;
  }
}

/** All files, when the newest rotated one is not written any more: the last lines are counted from its end. */
async function openSettled({ clock, files }: Reading, signal: AbortSignal): ReturnType<LogFiles['openAll']> {
  const found = await files.openAll();
  const newest = found.older.at(-1);
  const file = newest === undefined ? undefined : await files.openRotated(newest);
  try {
    if (file === undefined || file.isCompressed || !(await settle(clock, file, signal))) return found;
  } catch (error) {
    await found.current?.close();
    throw error;
  } finally {
    await file?.close();
  }
  if (found.current !== undefined) return found;
  // The log was just being rotated.
  return files.openAll();
}

async function readOlder({ files, cursor }: Reading, older: readonly string[], start: LogStart): Promise<void> {
  if (start.name === undefined) return;
  for (const name of older.slice(older.indexOf(start.name))) {
    if (cursor.isFull()) return;
    const file = await files.openRotated(name);
    if (file === undefined) {
      await cursor.skipGap();
      continue;
    }
    try {
      const isFirst = name === start.name;
      cursor.begin(isFirst ? start.offset : 0, isFirst ? start.skipLines : 0);
      await cursor.readToEnd(file);
    } finally {
      await file.close();
    }
  }
}

function findStart(
  files: LogFiles,
  found: { readonly current: OpenLog | undefined; readonly size: number; readonly older: readonly string[] },
  lines: number | undefined,
  signal: AbortSignal,
): Promise<LogStart> | LogStart {
  if (lines === undefined) return { name: found.older[0], offset: 0, skipLines: 0 };
  return findTailStart({ files, ...found, lines }, signal);
}
