/**
 * Quoting as programs that read kubelet logs expect it: strings in Go's escaped form, everything else as JSON with the
 * characters escaped that Go escapes.
 */
import { escapeJson, quoteText } from '../base/go-text.ts';

/** JSON of any value; what JSON can't hold becomes text that says so, since a log call must never throw. */
export function jsonText(value: unknown): string {
  try {
    const text = JSON.stringify(value, (_key, inner: unknown) => plain(inner)) ?? 'null';
    return escapeJson(text);
  } catch (error) {
    return quoteText(`<internal error: ${error instanceof Error ? error.message : String(error)}>`);
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return value;
}
