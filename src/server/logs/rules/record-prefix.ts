/**
 * What stands before the text of each record of a log in CRI's form: `2016-10-06T00:17:09.669794202Z stdout F `. Instead of the F there is
 * a P where the line goes on in the next record, and more tags may follow after a colon.
 */
import { isStamp } from './instant.ts';

/** Filled in by `readPrefix`. One object serves all records of a log: the loop over millions of them must not allocate. */
export interface RecordPrefix {
  /** Where the timestamp ends. */
  stampEnd: number;
  /** Where the text begins. */
  text: number;
  isStdout: boolean;
  /** The line goes on in the next record. */
  isPartial: boolean;
}

export const createPrefix = (): RecordPrefix => ({ stampEnd: 0, text: 0, isStdout: false, isPartial: false });

/** No record has more before its text. */
export const LONGEST_PREFIX = 256;

const NEWLINE = 10;
const SPACE = 32;
const COLON = 58;
const LETTER_P = 80;
const SHORTEST_STAMP = 20;
const STD = [0x73, 0x74, 0x64];
const OUT = [0x6f, 0x75, 0x74];
const ERR = [0x65, 0x72, 0x72];

/** Reads the prefix of the record at `at`; false if there is no complete one before `end`. */
export function readPrefix(bytes: Uint8Array, at: number, end: number, into: RecordPrefix): boolean {
  const limit = Math.min(end, at + LONGEST_PREFIX);
  const stampEnd = spaceFrom(bytes, at + SHORTEST_STAMP - 1, limit);
  if (stampEnd < 0 || !isStamp(bytes, at, stampEnd)) return false;
  const streamEnd = stampEnd + 7;
  const isStdout = isAt(bytes, stampEnd + 4, OUT);
  if (!isAt(bytes, stampEnd + 1, STD) || bytes[streamEnd] !== SPACE) return false;
  if (!isStdout && !isAt(bytes, stampEnd + 4, ERR)) return false;
  const tagsEnd = spaceFrom(bytes, streamEnd + 1, limit);
  if (tagsEnd < 0) return false;
  const afterTag = bytes[streamEnd + 2];
  into.stampEnd = stampEnd;
  into.text = tagsEnd + 1;
  into.isStdout = isStdout;
  into.isPartial = bytes[streamEnd + 1] === LETTER_P && (afterTag === SPACE || afterTag === COLON);
  return true;
}

/** Whether a line ends with the record from `from` to its newline at `to`. */
export function endsLine(bytes: Uint8Array, from: number, to: number): boolean {
  const prefix = createPrefix();
  return readPrefix(bytes, from, to, prefix) && !prefix.isPartial;
}

const isAt = (bytes: Uint8Array, at: number, word: readonly number[]): boolean =>
  bytes[at] === word[0] && bytes[at + 1] === word[1] && bytes[at + 2] === word[2];

/** Where the next space is; -1 where the record or the bytes end before one. */
function spaceFrom(bytes: Uint8Array, from: number, limit: number): number {
  for (let at = from; at < limit; at += 1) {
    const byte = bytes[at];
    if (byte === SPACE) return at;
    if (byte === NEWLINE) return -1;
  }
  return -1;
}
