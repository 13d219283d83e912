import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Difference } from './compare.ts';

const FILE = join(import.meta.dirname, '..', 'run-differences.json');

/** The differences of a run from the recording that are meant, each with its reason. */
export function readDifferences(kind: 'standalone' | 'cluster' = 'standalone'): readonly Difference[] {
  const all: readonly Difference[] = JSON.parse(readFileSync(FILE, 'utf8'));
  return all.filter(({ only = kind }) => only === kind);
}
