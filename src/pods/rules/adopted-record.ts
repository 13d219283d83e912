/** The text of the file with the UIDs that static pods have adopted from another kubelet. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

const VERSION = 1;

export function encodeAdopted(adopted: ReadonlyMap<string, string>): string {
  return `${JSON.stringify({ version: VERSION, adopted: Object.fromEntries(adopted) })}\n`;
}

export function decodeAdopted(text: string): Parsed<ReadonlyMap<string, string>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unparsable(`not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { version, adopted } = fieldsOf(value);
  if (version !== VERSION) return unparsable(`version ${String(version)} instead of ${VERSION}`);
  const entries = Object.entries(fieldsOf(adopted));
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '');
  return texts.length === entries.length ? parsed(new Map(texts)) : unparsable('a UID is not a string');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
