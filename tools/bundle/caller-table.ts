/**
 * Which source line each log call of the bundle comes from. Log lines name their caller; a source map in memory would cost the running
 * kubelet megabytes, while the lines of the bundle that log are few.
 */
import { basename } from 'node:path';

const LOG_CALL = /\.(info|warn|error)\(/;

interface SourceMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

/** One `bundleLine:sourceFile:sourceLine` for each line of `code` that has a log call. */
export function callerTable(code: string, map: string): string {
  const lines = code.split('\n');
  const rows: string[] = [];
  const { sources, mappings } = JSON.parse(map) as SourceMap;
  for (const { bundleLine, source, sourceLine } of firstMappings(mappings, (line) =>
    LOG_CALL.test(lines[line] ?? ''),
  )) {
    const file = sources[source] ?? '';
    if (file.includes('node_modules')) continue;
    rows.push(`${bundleLine + 1}:${shortName(file)}:${sourceLine + 1}`);
  }
  return rows.join('\n');
}

/** The file with its directory, as JSON log lines show it: `health/health.ts`. */
function shortName(file: string): string {
  const parts = file.split('/');
  return parts.length < 2 ? basename(file) : parts.slice(-2).join('/');
}

interface Mapping {
  readonly bundleLine: number;
  readonly source: number;
  readonly sourceLine: number;
}

/** Walks the map's text (lines split by `;`, places by `,`, numbers relative to the place before) and keeps the first place of wanted lines. */
export function* firstMappings(mappings: string, wanted: (bundleLine: number) => boolean): Generator<Mapping> {
  let source = 0;
  let sourceLine = 0;
  for (const [bundleLine, group] of mappings.split(';').entries()) {
    let first: Mapping | undefined;
    for (const segment of group.split(',')) {
      const [, sourceStep, lineStep] = decodeNumbers(segment);
      if (sourceStep === undefined || lineStep === undefined) continue;
      source += sourceStep;
      sourceLine += lineStep;
      first ??= { bundleLine, source, sourceLine };
    }
    if (first !== undefined && wanted(bundleLine)) yield first;
  }
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Numbers of variable length: six bits a character, the highest says "more follows", the lowest bit of the whole is the sign. */
export function decodeNumbers(segment: string): readonly number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const char of segment) {
    const digit = DIGITS.indexOf(char);
    value += (digit & 31) * 2 ** shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value % 2 === 1 ? -(value - 1) / 2 : value / 2);
    value = 0;
    shift = 0;
  }
  return numbers;
}
