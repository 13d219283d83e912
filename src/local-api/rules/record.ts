/** One change of the store as a line of its journal: a checksum, then the change as JSON. */
import type { ApiObject } from './objects.ts';

export interface JournalRecord {
  readonly revision: number;
  /** `pods/default/web`. */
  readonly key: string;
  /** Undefined: the object was removed. */
  readonly object: ApiObject | undefined;
}

/** The first line of every journal. Another version is not read: a newer kubelet wrote it. */
export const JOURNAL_HEADER = 'kubelet-ts local API journal, version 1';

export type Checksum = (text: string) => number;

const SUM_DIGITS = 8;

export function encodeRecord({ revision, key, object }: JournalRecord, checksum: Checksum): string {
  const text = JSON.stringify({ r: revision, k: key, o: object ?? null });
  return `${sumOf(text, checksum)} ${text}\n`;
}

/** Undefined: the line is damaged, or was written in part. */
export function decodeRecord(line: string, checksum: Checksum): JournalRecord | undefined {
  const text = line.slice(SUM_DIGITS + 1);
  if (line[SUM_DIGITS] !== ' ' || line.slice(0, SUM_DIGITS) !== sumOf(text, checksum)) return undefined;
  const { r, k, o } = JSON.parse(text) as { r: number; k: string; o: ApiObject | null };
  return { revision: r, key: k, object: o ?? undefined };
}

const sumOf = (text: string, checksum: Checksum): string => checksum(text).toString(16).padStart(SUM_DIGITS, '0');
