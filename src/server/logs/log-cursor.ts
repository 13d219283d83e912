/** The position of a reader in a log. Reads from there and passes the requested text on. */
import { readSync } from 'node:fs';
import type { Logger } from '../../base/logger.ts';
import { createJsonCutter } from './json-cutter.ts';
import { type CutRequest, createLineCutter, type LineCutter } from './line-cutter.ts';
import type { OpenLog } from './log-files.ts';
import type { ReadBuffers } from './read-buffers.ts';
import { unpack } from './unpack.ts';

/** Receives bytes, and resolves when it can receive more. */
export type LogSink = (bytes: Buffer) => Promise<void> | void;

export interface LogCursor {
  /** The next file, from `offset` (in bytes of the uncompressed log), without the first `skipLines` lines. */
  begin(offset: number, skipLines: number): void;
  /** The next bytes do not follow the last ones: files between the two are missing. */
  skipGap(): Promise<void>;
  /** Reads up to `end`, or to the current end of the file. */
  readToEnd(file: OpenLog, end?: number): Promise<void>;
  /** The same for the few bytes that were just appended. */
  readAppended(file: OpenLog): Promise<void>;
  /** The limit of bytes is reached. */
  isFull(): boolean;
}

export interface LogCursorDeps {
  readonly log: Logger;
  readonly buffers: ReadBuffers;
}

const BRACE = 0x7b;

export function createLogCursor(
  { log, buffers }: LogCursorDeps,
  request: { readonly cut: CutRequest; readonly sink: LogSink },
  signal: AbortSignal,
): LogCursor {
  let cutter: LineCutter | undefined;
  let skip = 0;
  let position = 0;

  const isFull = () => cutter?.isFull() ?? false;

  /** The sink gets a copy: the buffer is free again before the client has read it. */
  const give = async (bytes: Buffer): Promise<void> => {
    if (cutter === undefined) {
      cutter = bytes[0] === BRACE ? createJsonCutter(request.cut) : createLineCutter(request.cut);
      cutter.begin(skip);
    }
    const out = cutter.cut(bytes);
    if (out.length > 0) await request.sink(out);
  };

  const readPiece = async (file: OpenLog, end: number): Promise<{ readonly given: Promise<void> } | undefined> => {
    using lent = await buffers.lend(signal);
    const length = Math.min(lent.buffer.length, end - position);
    const { bytesRead } = await file.handle.read(lent.buffer, 0, length, position);
    if (bytesRead === 0) return undefined;
    position += bytesRead;
    return { given: give(lent.buffer.subarray(0, bytesRead)) };
  };

  const readPlain = async (file: OpenLog, end: number): Promise<void> => {
    while (position < end && !isFull()) {
      signal.throwIfAborted();
      const piece = await readPiece(file, end);
      if (piece === undefined) return;
      await piece.given;
    }
  };

  const readPacked = async (file: OpenLog): Promise<void> => {
    let before = position;
    try {
      for await (const part of unpack(file, signal)) {
        const bytes = part.subarray(Math.min(before, part.length));
        before -= part.length - bytes.length;
        position += bytes.length;
        if (bytes.length > 0) await give(bytes);
        if (isFull()) return;
      }
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn('Failed to read a compressed log to its end, the rest is skipped', { err: error });
    }
  };

  const readToEnd: LogCursor['readToEnd'] = (file, end = Number.POSITIVE_INFINITY) =>
    file.isCompressed ? readPacked(file) : readPlain(file, end);

  return {
    begin: (offset, skipLines) => {
      position = offset;
      skip = skipLines;
      cutter?.begin(skipLines);
    },
    skipGap: async () => {
      const end = cutter?.endLine();
      if (end !== undefined && end.length > 0) await request.sink(end);
    },
    readToEnd,
    readAppended: async (file) => {
      // They are in the page cache: waiting for a thread would take longer than reading them.
      const { scratch } = buffers;
      const length = readSync(file.handle.fd, scratch, 0, scratch.length, position);
      position += length;
      if (length > 0) await give(scratch.subarray(0, length));
      if (length === scratch.length) await readToEnd(file);
    },
    isFull,
  };
}
