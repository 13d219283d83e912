/** What is on disk of a node that closes: enough for another kubelet to go on where this one was. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { ClosingGroup } from './closing.ts';
import type { GracePeriod } from './groups.ts';

export type ClosingCause = 'shutdown' | 'drain';

export interface ClosingRecord {
  readonly cause: ClosingCause;
  /** A machine that was booted again is open. */
  readonly bootId: string;
  /** Wall clock, ms. */
  readonly startedAt: number;
  /** Undefined: it is not over yet. */
  readonly endedAt: number | undefined;
  readonly periods: readonly GracePeriod[];
  readonly group: ClosingGroup | undefined;
}

const VERSION = 1;

export function encodeRecord(record: ClosingRecord): string {
  return `${JSON.stringify({ version: VERSION, ...record })}\n`;
}

export function decodeRecord(text: string): Parsed<ClosingRecord> {
  const fields = parseFields(text);
  if (fields === undefined) return unparsable('not a JSON object');
  const { version, cause, bootId, startedAt, endedAt, periods, group } = fields;
  if (version !== VERSION) return unparsable(`version ${String(version)} instead of ${VERSION}`);
  if (cause !== 'shutdown' && cause !== 'drain') return unparsable(`cause ${String(cause)}`);
  if (typeof bootId !== 'string' || !isNumber(startedAt)) return unparsable('bootId or startedAt is missing');
  if (!Array.isArray(periods) || !periods.every(isPeriod)) return unparsable('periods are not numbers');
  if (group !== undefined && !isGroup(group)) return unparsable('group is not a number');
  return parsed({ cause, bootId, startedAt, endedAt: isNumber(endedAt) ? endedAt : undefined, periods, group });
}

/** `graceful_node_shutdown_state`, as the reference writes it: for metrics only. */
export function encodeState(startedAt: number, endedAt: number | undefined): string {
  return JSON.stringify({ startTime: timeOf(startedAt), endTime: timeOf(endedAt) });
}

/** Seconds, 0 for none, as the metrics show them. */
export function decodeState(text: string): Parsed<{ readonly startSeconds: number; readonly endSeconds: number }> {
  const fields = parseFields(text);
  if (fields === undefined) return unparsable('not a JSON object');
  return parsed({ startSeconds: secondsOf(fields['startTime']), endSeconds: secondsOf(fields['endTime']) });
}

const NO_TIME = '0001-01-01T00:00:00Z';

const timeOf = (ms: number | undefined): string =>
  ms === undefined ? NO_TIME : Temporal.Instant.fromEpochMilliseconds(Math.round(ms)).toString();

function secondsOf(value: unknown): number {
  if (typeof value !== 'string' || value === NO_TIME) return 0;
  try {
    return Math.floor(Temporal.Instant.from(value).epochMilliseconds / 1000);
  } catch {
    return 0; // a time that can't be read is none
  }
}

function parseFields(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined; // the caller reports it
  }
}

const isNumber = (value: unknown): value is number => typeof value === 'number';
const isPeriod = (value: unknown): value is GracePeriod =>
  isNumber(Object(value)['priority']) && isNumber(Object(value)['seconds']);
const isGroup = (value: unknown): value is ClosingGroup =>
  isNumber(Object(value)['index']) && isNumber(Object(value)['beganAt']);
