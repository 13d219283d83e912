/**
 * Cuts the text that a client asked for out of a log in CRI's form (see rules/record-prefix.ts). Works on bytes as they were read,
 * wherever they are split: decoding them to strings would be slower than reading the file.
 */
import { type Instant, isBefore, LONGEST_STAMP, parseInstant, writeStamp } from './rules/instant.ts';
import { createPrefix, LONGEST_PREFIX, type RecordPrefix, readPrefix } from './rules/record-prefix.ts';

export interface CutRequest {
  readonly timestamps: boolean;
  readonly since: Instant | undefined;
  readonly stdout: boolean;
  readonly stderr: boolean;
  /** Infinity for all. */
  readonly limitBytes: number;
}

export interface LineCutter {
  /** The text in these bytes, which follow those of the call before. */
  cut(bytes: Buffer): Buffer;
  /** The next bytes are from the beginning of a file, or of a record in it; its first `skipLines` lines are skipped. */
  begin(skipLines: number): void;
  /** Files between the last bytes and the next are missing: ends a line that was begun, so that it is not joined with another one. */
  endLine(): Buffer;
  /** The limit of bytes is reached. */
  isFull(): boolean;
}

const NEWLINE = 10;
const SPACE = 32;
/** Runtimes split lines into records of 16 KiB, in JSON up to six times that. No runtime writes longer ones. */
export const LONGEST_RECORD = 1024 * 1024;
const EMPTY = Buffer.alloc(0);
const LINE_END = Buffer.from('\n');

export function createLineCutter(request: CutRequest): LineCutter {
  const limit = createByteLimit(request.limitBytes);
  /** Of the record that is read. */
  const prefix = createPrefix();
  let isWanted = false;
  let reading: 'prefix' | 'text' = 'prefix';
  let carry = EMPTY;
  /** The next text is the beginning of a line. */
  let atLineStart = true;
  let skip = 0;

  /** Reads the prefix of the record at `at`; false if the rest of it comes with the next bytes. */
  const beginRecord = (bytes: Buffer, at: number): boolean => {
    if (readPrefix(bytes, at, bytes.length, prefix)) {
      isWanted = skip === 0 && isRequested(request, prefix, bytes, at);
      return true;
    }
    if (bytes.length - at < LONGEST_PREFIX && !bytes.includes(NEWLINE, at)) return false;
    // A record that can't be read is skipped up to its end.
    isWanted = false;
    prefix.isPartial = true;
    prefix.text = at;
    return true;
  };

  const cut = (more: Buffer): Buffer => {
    const bytes = carry.length > 0 ? Buffer.concat([carry, more]) : more;
    carry = EMPTY;
    let out = Buffer.allocUnsafe(bytes.length + LONGEST_STAMP);
    let filled = 0;
    for (let at = 0; at < bytes.length; ) {
      if (reading === 'prefix') {
        if (!beginRecord(bytes, at)) {
          carry = Buffer.from(bytes.subarray(at));
          break;
        }
        if (request.timestamps && isWanted && atLineStart) {
          // Timestamps are written with all their digits, so a log of short lines can grow.
          if (out.length - filled < bytes.length - at + LONGEST_STAMP) out = Buffer.concat([out], out.length * 2);
          filled = writeStamp(bytes, at, prefix.stampEnd, out, filled);
          out[filled++] = SPACE;
        }
        at = prefix.text;
        reading = 'text';
      }
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline < 0 ? bytes.length : newline;
      if (isWanted) {
        filled += bytes.copy(out, filled, at, newline < 0 || prefix.isPartial ? end : end + 1);
        atLineStart = newline >= 0 && !prefix.isPartial;
      }
      if (newline >= 0) {
        if (!prefix.isPartial && skip > 0) skip -= 1;
        reading = 'prefix';
      }
      at = end + 1;
    }
    return limit.apply(out.subarray(0, filled));
  };

  return {
    cut,
    begin: (skipLines) => {
      carry = EMPTY;
      reading = 'prefix';
      skip = skipLines;
    },
    endLine: () => {
      if (atLineStart) return EMPTY;
      atLineStart = true;
      return limit.apply(LINE_END);
    },
    isFull: limit.isReached,
  };
}

function isRequested(request: CutRequest, prefix: RecordPrefix, bytes: Buffer, at: number): boolean {
  if (!(prefix.isStdout ? request.stdout : request.stderr)) return false;
  if (request.since === undefined) return true;
  const stamp = parseInstant(bytes, at, prefix.stampEnd);
  return stamp !== undefined && !isBefore(stamp, request.since);
}

export interface ByteLimit {
  /** As much of these bytes as the limit still allows. */
  apply(bytes: Buffer): Buffer;
  isReached(): boolean;
}

export function createByteLimit(limitBytes: number): ByteLimit {
  let remaining = limitBytes;
  return {
    apply: (bytes) => {
      const allowed = bytes.length > remaining ? bytes.subarray(0, remaining) : bytes;
      remaining -= allowed.length;
      return allowed;
    },
    isReached: () => remaining <= 0,
  };
}
