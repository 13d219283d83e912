/** Cuts the text that a client asked for out of a log as Docker writes it: a JSON object for each record. Rare by now, so it need not be fast. */
import { type CutRequest, createByteLimit, type LineCutter, LONGEST_RECORD } from './line-cutter.ts';
import { isBefore, LONGEST_STAMP, parseInstant, writeStamp } from './rules/instant.ts';

const NEWLINE = 10;
const SPACE = ' ';
const EMPTY = Buffer.alloc(0);
const LINE_END = Buffer.from('\n');

interface JsonRecord {
  readonly log: string;
  readonly stream: string;
  readonly time: string;
}

export function createJsonCutter(request: CutRequest): LineCutter {
  const limit = createByteLimit(request.limitBytes);
  let carry: readonly Buffer[] = [];
  let carried = 0;
  let skip = 0;
  let atLineStart = true;

  const take = (line: Buffer): Buffer => {
    const record = parseRecord(line.toString());
    if (record === undefined) return EMPTY;
    const wanted = skip === 0 && isWanted(record, request);
    const isEnd = record.log.endsWith('\n');
    if (isEnd) skip = Math.max(0, skip - 1);
    if (!wanted) return EMPTY;
    const stamp = request.timestamps && atLineStart ? fullStamp(record.time) : '';
    atLineStart = isEnd;
    return Buffer.from(`${stamp}${record.log}`);
  };

  return {
    cut: (more) => {
      const parts: Buffer[] = [];
      let at = 0;
      for (let end = more.indexOf(NEWLINE); end >= 0; end = more.indexOf(NEWLINE, at)) {
        if (carried <= LONGEST_RECORD) parts.push(take(Buffer.concat([...carry, more.subarray(at, end)])));
        [carry, carried] = [[], 0];
        at = end + 1;
      }
      // Nothing is kept of a record that is too long, and the rest of it is skipped.
      carried += more.length - at;
      carry = carried > LONGEST_RECORD ? [] : [...carry, Buffer.from(more.subarray(at))];
      return limit.apply(Buffer.concat(parts));
    },
    begin: (skipLines) => {
      [carry, carried] = [[], 0];
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

function isWanted({ stream, time }: JsonRecord, { stdout, stderr, since }: CutRequest): boolean {
  if (!(stream === 'stdout' ? stdout : stderr)) return false;
  if (since === undefined) return true;
  const stamp = parseInstant(Buffer.from(time), 0, time.length);
  return stamp !== undefined && !isBefore(stamp, since);
}

function fullStamp(time: string): string {
  const from = Buffer.from(time);
  const to = Buffer.alloc(LONGEST_STAMP);
  return `${to.toString('utf8', 0, writeStamp(from, 0, from.length, to, 0))}${SPACE}`;
}

/** Undefined if the line is no such record. */
function parseRecord(line: string): JsonRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const { log, stream, time } = (value ?? {}) as Partial<Record<keyof JsonRecord, unknown>>;
  const isOutput = stream === 'stdout' || stream === 'stderr';
  if (typeof log !== 'string' || typeof time !== 'string' || !isOutput) return undefined;
  return { log, stream, time };
}

export function endsJsonLine(line: Buffer): boolean {
  return parseRecord(line.toString())?.log.endsWith('\n') ?? false;
}
