/**
 * Kubernetes quantities (`100m`, `1.5Gi`, `12e6`): exact, immutable, no finer than one billionth. The family of suffixes
 * a quantity was written in is kept, because it decides how it is printed.
 */
import { type Parsed, parsed, shorten, unparsable } from './parsed.ts';

export type QuantityFamily = 'binary' | 'decimal' | 'exponent';

export interface Quantity {
  /** Billionths of one unit. */
  readonly nanos: bigint;
  readonly family: QuantityFamily;
}

interface Suffix {
  readonly family: QuantityFamily;
  readonly base: 2n | 10n;
  readonly exponent: number;
}

const NANO_PLACES = 9;
const ONE = 10n ** 9n;
const MILLI = 10n ** 6n;
// Larger exponents can name no amount of anything, and would only make us compute numbers of any length.
const LARGEST_EXPONENT = 99;
const LARGEST_BINARY = (2n ** 63n - 1n) * ONE;
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
/** Its digits are matched in more than one way where it is no quantity, so that time grows with the square of its length. */
const LONGEST_TEXT = 128;
const SHAPE = /^([+-]?)(\d*)(?:\.(\d*))?([A-Za-z]*)([+-]?\d+)?$/;

export const zeroQuantity: Quantity = { nanos: 0n, family: 'decimal' };

export function parseQuantity(text: string): Parsed<Quantity> {
  if (text.length > LONGEST_TEXT) {
    return unparsable(`${shorten(text)} is not a quantity: it is longer than ${LONGEST_TEXT} characters`);
  }
  const [matched, sign = '', whole = '', fraction = '', letters = '', exponent = ''] = SHAPE.exec(text) ?? [];
  // The reference reads a bare suffix (`Mi`) as zero; it can only be a slip.
  if (matched === undefined || whole + fraction === '') return notAQuantity(text);
  const suffix = readSuffix(letters, exponent);
  if (suffix === undefined) return notAQuantity(text);
  if (suffix.exponent > LARGEST_EXPONENT) {
    return unparsable(`${JSON.stringify(text)} is not a quantity: the largest exponent is ${LARGEST_EXPONENT}`);
  }
  const digits = BigInt(whole + fraction);
  const exact =
    suffix.base === 2n
      ? scale(digits << BigInt(suffix.exponent), NANO_PLACES - fraction.length)
      : scale(digits, NANO_PLACES - fraction.length + suffix.exponent);
  const size = suffix.family === 'binary' && exact > LARGEST_BINARY ? LARGEST_BINARY : exact;
  // Less than one of something has no binary form.
  const family = suffix.family === 'binary' && size < ONE && size > 0n ? 'decimal' : suffix.family;
  return parsed({ nanos: sign === '-' ? -size : size, family });
}

function readSuffix(letters: string, exponent: string): Suffix | undefined {
  if (exponent !== '') {
    if (letters !== 'e' && letters !== 'E') return undefined;
    return { family: 'exponent', base: 10n, exponent: Number(exponent) };
  }
  const decimal = DECIMAL_SUFFIXES.indexOf(letters);
  if (decimal >= 0) return { family: 'decimal', base: 10n, exponent: 3 * decimal - NANO_PLACES };
  const binary = BINARY_SUFFIXES.indexOf(letters);
  return binary > 0 ? { family: 'binary', base: 2n, exponent: 10 * binary } : undefined;
}

/** `count` times ten to the power of `places`; what is finer than one is rounded up, so that a request never becomes nothing. */
function scale(count: bigint, places: number): bigint {
  if (places >= 0) return count * 10n ** BigInt(places);
  if (count === 0n) return 0n;
  if (-places > count.toString().length) return 1n;
  return divideAwayFromZero(count, 10n ** BigInt(-places));
}

function divideAwayFromZero(count: bigint, divisor: bigint): bigint {
  const quotient = count / divisor;
  if (count % divisor === 0n) return quotient;
  return count < 0n ? quotient - 1n : quotient + 1n;
}

function notAQuantity(text: string): Parsed<never> {
  return unparsable(
    `${JSON.stringify(text)} is not a quantity: write a number with one of n u m k M G T P E Ki Mi Gi Ti Pi Ei ` +
      'or an exponent, such as 500m, 10Mi, 1.5G or 12e6',
  );
}

/** The one canonical text: an integer with the largest suffix of its family that loses nothing. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.nanos === 0n) return '0';
  if (quantity.family === 'binary' && quantity.nanos % ONE === 0n) {
    const units = quantity.nanos / ONE;
    if (units >= 1024n || units <= -1024n) return formatBinary(units);
  }
  return formatDecimal(quantity.nanos, quantity.family === 'exponent');
}

function formatBinary(units: bigint): string {
  let count = units;
  let step = 0;
  while (count % 1024n === 0n && step < BINARY_SUFFIXES.length - 1) {
    count /= 1024n;
    step += 1;
  }
  return `${count}${BINARY_SUFFIXES[step]}`;
}

function formatDecimal(nanos: bigint, asExponent: boolean): string {
  let count = nanos;
  let step = 0;
  while (count % 1000n === 0n && (asExponent || step < DECIMAL_SUFFIXES.length - 1)) {
    count /= 1000n;
    step += 1;
  }
  const exponent = 3 * step - NANO_PLACES;
  if (asExponent) return exponent === 0 ? `${count}` : `${count}e${exponent}`;
  return `${count}${DECIMAL_SUFFIXES[step]}`;
}

/** Negative, zero or positive, as for `Array.sort`. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  if (left.nanos === right.nanos) return 0;
  return left.nanos < right.nanos ? -1 : 1;
}

/** The sum, in the family of the first one that is not zero. */
export function addQuantities(left: Quantity, right: Quantity): Quantity {
  return { nanos: left.nanos + right.nanos, family: left.nanos === 0n ? right.family : left.family };
}

export function subtractQuantities(left: Quantity, right: Quantity): Quantity {
  return addQuantities(left, { nanos: -right.nanos, family: right.family });
}

/** Whole units, rounded away from zero. */
export function quantityValue(quantity: Quantity): bigint {
  return divideAwayFromZero(quantity.nanos, ONE);
}

/** Thousandths, rounded away from zero. */
export function quantityMilliValue(quantity: Quantity): bigint {
  return divideAwayFromZero(quantity.nanos, MILLI);
}

export function quantityFromUnits(units: bigint, family: QuantityFamily): Quantity {
  return { nanos: units * ONE, family };
}

export function quantityFromMillis(millis: bigint, family: QuantityFamily): Quantity {
  return { nanos: millis * MILLI, family };
}
