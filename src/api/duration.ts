/**
 * Durations in the text form of Go (`1h2m3.5s`), which Kubernetes uses in every file and flag. Here a duration is a
 * number of milliseconds; fractions reach down to a nanosecond.
 */
import { type Parsed, parsed, shorten, unparsable } from './parsed.ts';

const NANOSECONDS_IN: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n, // micro sign
  '\u03bcs': 1_000n, // Greek mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const MILLISECOND = 1_000_000n;
// The text form belongs to a signed 64-bit count of nanoseconds, about 292 years.
const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);
/** Far more than the longest one that Go prints. */
const LONGEST_TEXT = 128;
const ONE_PART = /^(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/;

/** Milliseconds of a text such as `1m30s`, `-1.5h`, `100ms` or a bare `0`. */
export function parseDuration(text: string): Parsed<number> {
  const nanoseconds = parseNanoseconds(text);
  if (!nanoseconds.ok) return nanoseconds;
  return parsed(Number(nanoseconds.value / MILLISECOND) + Number(nanoseconds.value % MILLISECOND) / 1e6);
}

function parseNanoseconds(text: string): Parsed<bigint> {
  if (text.length > LONGEST_TEXT) return notADuration(text, `it is longer than ${LONGEST_TEXT} characters`);
  const negative = text.startsWith('-');
  const unsigned = negative || text.startsWith('+') ? text.slice(1) : text;
  if (unsigned === '0') return parsed(0n);
  if (/^[0-9]*\.?[0-9]*$/.test(unsigned) && /[0-9]/.test(unsigned)) return notADuration(text, 'the unit is missing');
  let total = 0n;
  let rest = unsigned;
  do {
    const part = ONE_PART.exec(rest);
    const [matched = '', whole = '', fraction = '', unit = ''] = part ?? [];
    const size = NANOSECONDS_IN[unit];
    if (size === undefined || whole + fraction === '') return notADuration(text);
    total += BigInt(`0${whole}`) * size + (BigInt(`0${fraction}`) * size) / 10n ** BigInt(fraction.length);
    rest = rest.slice(matched.length);
  } while (rest !== '');
  const signed = negative ? -total : total;
  if (signed > LARGEST || signed < SMALLEST) return notADuration(text, 'it is out of range, about 292 years');
  return parsed(signed);
}

function notADuration(text: string, why?: string): Parsed<never> {
  const shown = shorten(text);
  const reason = why === undefined ? '' : `, ${why}`;
  return unparsable(
    `${shown} is not a duration${reason}: write a number with a unit (ns, us, ms, s, m, h), such as 1m30s`,
  );
}

/** The form Go prints: `0s`, `100ms`, `1.5s`, `1m0s`, `1h0m0s`. */
export function formatDuration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) throw new RangeError(`a duration must be a finite number, not ${milliseconds}`);
  const whole = Math.trunc(milliseconds);
  const nanoseconds = BigInt(whole) * MILLISECOND + BigInt(Math.round((milliseconds - whole) * 1e6));
  if (nanoseconds === 0n) return '0s';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  return `${nanoseconds < 0n ? '-' : ''}${size < 1_000_000_000n ? formatBelowSecond(size) : formatFromSecond(size)}`;
}

function formatBelowSecond(nanoseconds: bigint): string {
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < MILLISECOND) return `${decimal(nanoseconds, 3)}\u00b5s`;
  return `${decimal(nanoseconds, 6)}ms`;
}

function formatFromSecond(nanoseconds: bigint): string {
  const minutes = nanoseconds / 60_000_000_000n;
  const seconds = `${decimal(nanoseconds % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  if (minutes < 60n) return `${minutes}m${seconds}`;
  return `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** `count` divided by ten to the power of `places`, without trailing zeros. */
function decimal(count: bigint, places: number): string {
  const digits = count.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -places) : `${digits.slice(0, -places)}.${fraction}`;
}
