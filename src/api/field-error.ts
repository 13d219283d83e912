/** What is wrong with a field of an object, in the words that users know from the API server. */
import { quoteText } from '../base/go-text.ts';

export type FieldErrorKind =
  | 'Required value'
  | 'Invalid value'
  | 'Unsupported value'
  | 'Duplicate value'
  | 'Forbidden'
  | 'Too long'
  | 'Too many'
  | 'Not found';

export interface FieldError {
  /** `spec.containers[0].ports[1].name`. */
  readonly path: string;
  readonly kind: FieldErrorKind;
  /** As it was found; undefined where the words need none. */
  readonly value?: unknown;
  readonly detail: string;
}

/** `spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`. */
export function formatFieldError({ path, kind, value, detail }: FieldError): string {
  const shown = value === undefined ? kind : `${kind}: ${showValue(value)}`;
  return `${path}: ${shown}${detail === '' ? '' : `: ${detail}`}`;
}

function showValue(value: unknown): string {
  if (typeof value === 'string') return quoteText(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export const required = (path: string, detail = ''): FieldError => ({ path, kind: 'Required value', detail });

export const invalid = (path: string, value: unknown, detail: string): FieldError => ({
  path,
  kind: 'Invalid value',
  value,
  detail,
});

export const forbidden = (path: string, detail: string): FieldError => ({ path, kind: 'Forbidden', detail });

export const duplicate = (path: string, value: unknown): FieldError => ({
  path,
  kind: 'Duplicate value',
  value,
  detail: '',
});

export const unsupported = (path: string, value: unknown, supported: Iterable<string>): FieldError => ({
  path,
  kind: 'Unsupported value',
  value,
  detail: `supported values: ${[...supported].sort().map(quoteText).join(', ')}`,
});

export const tooLong = (path: string, most: number): FieldError => ({
  path,
  kind: 'Too long',
  detail: `may not be more than ${most} bytes`,
});

export const tooMany = (path: string, found: number, most: number): FieldError => ({
  path,
  kind: 'Too many',
  value: found,
  detail: `must have at most ${most} ${most === 1 ? 'item' : 'items'}`,
});
