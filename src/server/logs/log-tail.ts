/** Finds the start of the last lines of a log, back through rotated and compressed files as far as needed. */
import type { FileHandle } from 'node:fs/promises';
import { endsJsonLine } from './json-cutter.ts';
import { LONGEST_RECORD } from './line-cutter.ts';
import type { LogFiles, OpenLog } from './log-files.ts';
import { endsLine } from './rules/record-prefix.ts';
import { unpack } from './unpack.ts';

export interface LogStart {
  /** The rotated file to begin with; undefined: the current one. */
  readonly name: string | undefined;
  /** In bytes of the uncompressed log. */
  readonly offset: number;
  /** Lines to skip from there. */
  readonly skipLines: number;
}

export interface Tail {
  readonly files: LogFiles;
  readonly current: OpenLog | undefined;
  /** Bytes of the current file that count. */
  readonly size: number;
  readonly older: readonly string[];
  readonly lines: number;
}

const NEWLINE = 10;
const BRACE = 0x7b;
const BLOCK = 64 * 1024;
/** Stands for the beginning of a record that is too long: it is no valid record, so it is not counted. */
const OVERLONG = Buffer.from('-');

export async function findTailStart(
  { files, current, size, older, lines }: Tail,
  signal: AbortSignal,
): Promise<LogStart> {
  if (lines === 0) return { name: undefined, offset: size, skipLines: 0 };
  let missing = lines;
  if (current !== undefined) {
    const found = await tailOfPlain(current.handle, size, missing, signal);
    if ('offset' in found) return { name: undefined, offset: found.offset, skipLines: 0 };
    missing -= found.lines;
  }
  let start: LogStart = { name: undefined, offset: 0, skipLines: 0 };
  // Also when nothing is missing: the first line may have begun in the file before.
  for (const name of older.toReversed()) {
    const file = await files.openRotated(name);
    // Files that are older than a removed one are removed too.
    if (file === undefined) return start;
    try {
      const found = await tailOf(file, missing, signal);
      if (found.start !== undefined) return { name, ...found.start };
      missing -= found.lines;
      start = { name, offset: 0, skipLines: 0 };
    } finally {
      await file.close();
    }
  }
  return start;
}

type Found = { readonly lines: number; readonly start?: { readonly offset: number; readonly skipLines: number } };

async function tailOf(file: OpenLog, wanted: number, signal: AbortSignal): Promise<Found> {
  if (!file.isCompressed) {
    const { size } = await file.handle.stat();
    const found = await tailOfPlain(file.handle, size, wanted, signal);
    return 'offset' in found ? { lines: wanted, start: { offset: found.offset, skipLines: 0 } } : found;
  }
  // It can only be read forwards: now to count, later again to send.
  const lines = await countLines(file, signal);
  return lines > wanted ? { lines: wanted, start: { offset: 0, skipLines: lines - wanted } } : { lines };
}

async function countLines(file: OpenLog, signal: AbortSignal): Promise<number> {
  let lines = 0;
  let carry = Buffer.alloc(0);
  for await (const part of unpack(file, signal)) {
    const bytes = Buffer.concat([carry, part]);
    let at = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
      if (endsALine(bytes, at, end)) lines += 1;
      at = end + 1;
    }
    carry = bytes.length - at > LONGEST_RECORD ? OVERLONG : Buffer.from(bytes.subarray(at));
  }
  return lines;
}

const endsALine = (bytes: Buffer, from: number, to: number): boolean =>
  bytes[from] === BRACE ? endsJsonLine(bytes.subarray(from, to)) : endsLine(bytes, from, to);

/** The start of the last `wanted` lines, or the number of lines if there are not more. */
async function tailOfPlain(
  handle: FileHandle,
  size: number,
  wanted: number,
  signal: AbortSignal,
): Promise<{ readonly offset: number } | { readonly lines: number }> {
  let lines = 0;
  let block = BLOCK;
  for (let right = size; right > 0; ) {
    signal.throwIfAborted();
    const left = Math.max(0, right - block);
    const bytes = await readExactly(handle, left, right - left);
    let end = bytes.lastIndexOf(NEWLINE);
    let next = left;
    while (end >= 0) {
      const before = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1);
      if (before < 0 && left > 0) {
        // The record begins before this block: it is the last one of the next.
        next = left + end + 1;
        break;
      }
      if (endsALine(bytes, before + 1, end)) {
        if (lines === wanted) return { offset: left + end + 1 };
        lines += 1;
      }
      end = before;
    }
    // A record that is larger than the block; one that is longer than any runtime writes is skipped.
    if (next === right && block < LONGEST_RECORD) block *= 2;
    else if (next === right) next = left;
    right = next;
  }
  return { lines };
}

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(bytes, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
