/**
 * Cuts what clients want out of a log in CRI's form: `2016-10-06T00:17:09.669794202Z stdout F text` for each line, with a P instead
 * of the F where the line goes on in the next record. Works on bytes as they were read, wherever they are cut, since a log is
 * read faster than text can be made of it.
 */
import { type Instant, isBefore, isStamp, LONGEST_STAMP, parseInstant, writeStamp } from './rules/instant.ts';

export interface CutRequest {
  readonly timestamps: boolean;
  readonly since: Instant | undefined;
  readonly stdout: boolean;
  readonly stderr: boolean;
  /** Infinity for all. */
  readonly limitBytes: number;
}

export interface LineCutter {
  /** What these bytes, which follow those before, give. */
  cut(bytes: Buffer): Buffer;
  /** The next bytes are from the beginning of a file, or of a record in it; so many lines of it are left out. */
  begin(skipLines: number): void;
  /** Files between the last bytes and the next are gone: what was begun is ended, so that it does not run into another line. */
  endLine(): Buffer;
  /** There was as much as is wanted. */
  isFull(): boolean;
}

const NEWLINE = 10;
const SPACE = 32;
const LETTER_P = 80;
const COLON = 58;
/** A stamp, a stream, tags and the spaces between them; no record has more before its text. */
const LONGEST_PREFIX = 256;
/** Runtimes cut lines into records of 16 KiB, in JSON up to six times that. What is longer was put there by somebody else. */
export const LONGEST_RECORD = 1024 * 1024;
const SHORTEST_STAMP = 20;
const EMPTY = Buffer.alloc(0);
export const LINE_END = Buffer.from('\n');
const STD = [0x73, 0x74, 0x64];
const OUT = [0x6f, 0x75, 0x74];
const ERR = [0x65, 0x72, 0x72];

const isAt = (bytes: Uint8Array, at: number, word: readonly number[]): boolean =>
  bytes[at] === word[0] && bytes[at + 1] === word[1] && bytes[at + 2] === word[2];

/** Where the next space is; -1 where the record or the bytes end before one. */
function spaceFrom(bytes: Buffer, from: number, limit: number): number {
  for (let at = from; at < limit; at += 1) {
    const byte = bytes[at];
    if (byte === SPACE) return at;
    if (byte === NEWLINE) return -1;
  }
  return -1;
}

type Reading = 'prefix' | 'text';

export function createLineCutter(request: CutRequest): LineCutter {
  const { timestamps, since, stdout, stderr } = request;
  let carry = EMPTY;
  let reading: Reading = 'prefix';
  /** Of the record whose text is read. */
  let isWanted = false;
  let isPartial = false;
  let stampEnd = 0;
  /** The next record that is given begins a line. */
  let atLineStart = true;
  let skip = 0;
  let remaining = request.limitBytes;

  /** Where the text of the record at `at` begins; -1 if there is no whole prefix. */
  const readPrefix = (bytes: Buffer, at: number): number => {
    const limit = Math.min(bytes.length, at + LONGEST_PREFIX);
    stampEnd = spaceFrom(bytes, at + SHORTEST_STAMP - 1, limit);
    if (stampEnd < 0 || !isStamp(bytes, at, stampEnd)) return -1;
    const streamEnd = stampEnd + 7;
    const isOut = isAt(bytes, stampEnd + 4, OUT);
    if (!isAt(bytes, stampEnd + 1, STD) || bytes[streamEnd] !== SPACE) return -1;
    if (!isOut && !isAt(bytes, stampEnd + 4, ERR)) return -1;
    const tagsEnd = spaceFrom(bytes, streamEnd + 1, limit);
    if (tagsEnd < 0) return -1;
    // More tags may follow the first one.
    const afterTag = bytes[streamEnd + 2];
    isPartial = bytes[streamEnd + 1] === LETTER_P && (afterTag === SPACE || afterTag === COLON);
    isWanted = skip === 0 && (isOut ? stdout : stderr) && isRecent(bytes, at, stampEnd);
    return tagsEnd + 1;
  };

  const isRecent = (bytes: Buffer, from: number, to: number): boolean => {
    if (since === undefined) return true;
    const stamp = parseInstant(bytes, from, to);
    return stamp !== undefined && !isBefore(stamp, since);
  };

  /** A record that can't be read is left out up to its end. */
  const skipRecord = () => {
    isWanted = false;
    isPartial = true;
  };

  const endRecord = () => {
    if (!isPartial && skip > 0) skip -= 1;
  };

  const limited = (out: Buffer): Buffer => {
    const given = out.length > remaining ? out.subarray(0, remaining) : out;
    remaining -= given.length;
    return given;
  };

  const cut = (more: Buffer): Buffer => {
    const bytes = carry.length > 0 ? Buffer.concat([carry, more]) : more;
    carry = EMPTY;
    let out = Buffer.allocUnsafe(bytes.length + LONGEST_STAMP);
    let filled = 0;
    for (let at = 0; at < bytes.length; ) {
      if (reading === 'prefix') {
        const text = readPrefix(bytes, at);
        if (text < 0) {
          const isCutOff = bytes.length - at < LONGEST_PREFIX && !bytes.includes(NEWLINE, at);
          if (isCutOff) {
            carry = Buffer.from(bytes.subarray(at));
            break;
          }
          skipRecord();
        } else {
          if (timestamps && isWanted && atLineStart) {
            // Stamps are written with all their digits, so a log of short lines can grow.
            if (out.length - filled < bytes.length - at + LONGEST_STAMP) out = Buffer.concat([out], out.length * 2);
            filled = writeStamp(bytes, at, stampEnd, out, filled);
            out[filled++] = SPACE;
          }
          at = text;
        }
        reading = 'text';
      }
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline < 0 ? bytes.length : newline;
      if (isWanted) {
        filled += bytes.copy(out, filled, at, newline < 0 || isPartial ? end : end + 1);
        atLineStart = newline >= 0 && !isPartial;
      }
      if (newline >= 0) {
        endRecord();
        reading = 'prefix';
      }
      at = end + 1;
    }
    return limited(out.subarray(0, filled));
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
      return limited(LINE_END);
    },
    isFull: () => remaining <= 0,
  };
}

/** Is this a record with which a line ends? `to` is where its newline is. */
export function endsLine(bytes: Buffer, from: number, to: number): boolean {
  const stampEnd = spaceFrom(bytes, from + SHORTEST_STAMP - 1, to);
  if (stampEnd < 0 || !isStamp(bytes, from, stampEnd) || !isAt(bytes, stampEnd + 1, STD)) return false;
  const tag = stampEnd + 8;
  if (bytes[tag - 1] !== SPACE || spaceFrom(bytes, tag, to) < 0) return false;
  return !(bytes[tag] === LETTER_P && (bytes[tag + 1] === SPACE || bytes[tag + 1] === COLON));
}
