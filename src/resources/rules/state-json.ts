/** Reading a state file that anyone may have written. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

export function parseJson(text: string): Parsed<unknown> {
  try {
    return parsed(JSON.parse(text));
  } catch (error) {
    return unparsable(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Anything but a whole number that can be counted with is zero. */
export const numberOf = (value: unknown): number => (Number.isSafeInteger(value) ? Number(value) : 0);

export const numbersIn = (value: unknown): readonly number[] => (Array.isArray(value) ? value.map(numberOf) : []);
