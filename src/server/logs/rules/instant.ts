/** Times of log lines to the nanosecond, read from bytes: decoding every line would cost more than reading the log. */
import { dayNumber } from '../../../api/timestamp.ts';

export interface Instant {
  /** Since 1970. */
  readonly seconds: number;
  readonly nanos: number;
}

const DASH = 45;
const COLON = 58;
const POINT = 46;
const LETTER_T = 84;
const LETTER_Z = 90;
const PLUS = 43;
const ZERO = 48;
/** `2006-01-02T15:04:05`. */
const WHOLE_SECONDS = 19;
/** `+07:00`. */
const OFFSET = 6;
const NANO_DIGITS = 9;
const DAY = 86_400;

/** Whether it has the format of an RFC 3339 time, with any number of digits after the point. The values are not checked. */
export function isStamp(bytes: Uint8Array, from: number, to: number): boolean {
  return (
    to - from > WHOLE_SECONDS &&
    bytes[from + 4] === DASH &&
    bytes[from + 7] === DASH &&
    bytes[from + 10] === LETTER_T &&
    bytes[from + 13] === COLON &&
    bytes[from + 16] === COLON &&
    zoneStart(bytes, from, to) > 0
  );
}

/** Where `Z` or the offset begins; 0 if there is neither. */
function zoneStart(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[to - 1] === LETTER_Z) return to - 1;
  const sign = bytes[to - OFFSET];
  return to - from >= WHOLE_SECONDS + OFFSET && (sign === PLUS || sign === DASH) && bytes[to - 3] === COLON
    ? to - OFFSET
    : 0;
}

export function parseInstant(bytes: Uint8Array, from: number, to: number): Instant | undefined {
  if (!isStamp(bytes, from, to)) return undefined;
  const zone = zoneStart(bytes, from, to);
  const days = dayNumber(digits(bytes, from, 4), digits(bytes, from + 5, 2), digits(bytes, from + 8, 2));
  const clock = digits(bytes, from + 11, 2) * 3600 + digits(bytes, from + 14, 2) * 60 + digits(bytes, from + 17, 2);
  const nanos = fraction(bytes, from + WHOLE_SECONDS, zone);
  const seconds = days * DAY + clock - offsetSeconds(bytes, zone);
  return Number.isNaN(seconds + nanos) ? undefined : { seconds, nanos };
}

/** NaN if there is anything but digits. */
function digits(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    value = digit >= 0 && digit <= 9 ? value * 10 + digit : Number.NaN;
  }
  return value;
}

function fraction(bytes: Uint8Array, from: number, to: number): number {
  if (from === to) return 0;
  const count = Math.min(to - from - 1, NANO_DIGITS);
  if (bytes[from] !== POINT || count < 1) return Number.NaN;
  return digits(bytes, from + 1, count) * 10 ** (NANO_DIGITS - count);
}

function offsetSeconds(bytes: Uint8Array, zone: number): number {
  if (bytes[zone] === LETTER_Z) return 0;
  const size = digits(bytes, zone + 1, 2) * 3600 + digits(bytes, zone + 4, 2) * 60;
  return bytes[zone] === DASH ? -size : size;
}

export function isBefore(one: Instant, other: Instant): boolean {
  return one.seconds < other.seconds || (one.seconds === other.seconds && one.nanos < other.nanos);
}

/** The longest timestamp with nine digits. */
export const LONGEST_STAMP = WHOLE_SECONDS + 1 + NANO_DIGITS + OFFSET;

/** Writes the stamp with exactly nine digits, as clients get it, and returns where it ends. */
export function writeStamp(from: Uint8Array, begin: number, end: number, to: Uint8Array, at: number): number {
  const zone = zoneStart(from, begin, end);
  for (let index = 0; index < WHOLE_SECONDS; index += 1) to[at + index] = from[begin + index] ?? 0;
  let out = at + WHOLE_SECONDS;
  to[out++] = POINT;
  for (let index = 0; index < NANO_DIGITS; index += 1) {
    const source = begin + WHOLE_SECONDS + 1 + index;
    to[out++] = source < zone ? (from[source] ?? ZERO) : ZERO;
  }
  for (let index = zone; index < end; index += 1) to[out++] = from[index] ?? 0;
  return out;
}
