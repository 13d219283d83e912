/**
 * Files with variables in a strict part of shell syntax: `NAME='value'`, where the value is taken as it is and may span
 * lines. Comments and empty lines are allowed between assignments.
 */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';

export interface EnvFileValues {
  /** The first value of each name. */
  readonly values: ReadonlyMap<string, string>;
  /** What is wrong with the text behind them. */
  readonly problem: string | undefined;
}

/** Read once for all the keys that are asked for. */
export function readEnvFile(text: string): EnvFileValues {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  const values = new Map<string, string>();
  let next = 0;
  while (next < lines.length) {
    const assignment = readAssignment(lines, next);
    if (!assignment.ok) return { values, problem: assignment.problem };
    const { name, value } = assignment.value;
    if (name !== undefined && !values.has(name)) values.set(name, value);
    next = assignment.value.next;
  }
  return { values, problem: undefined };
}

/** The value of `key`; undefined where the file has none. Only what comes before the key is checked. */
export function envFileValue({ values, problem }: EnvFileValues, key: string): Parsed<string | undefined> {
  const value = values.get(key);
  return value === undefined && problem !== undefined ? unparsable(problem) : parsed(value);
}

interface Assignment {
  /** Undefined for a comment or an empty line. */
  readonly name: string | undefined;
  readonly value: string;
  /** Index of the first line after it. */
  readonly next: number;
}

function readAssignment(lines: readonly string[], start: number): Parsed<Assignment> {
  const line = (lines[start] ?? '').replace(/^[ \t]+/, '');
  if (line === '' || line.startsWith('#')) return parsed({ name: undefined, value: '', next: start + 1 });
  const equals = line.indexOf('=');
  if (equals < 0) return wrong(start, "missing '='");
  const name = line.slice(0, equals);
  if (name.trim() === '') return wrong(start, 'empty variable name');
  if (/[ \t]$/.test(name)) return wrong(start, "whitespace before '=' is not allowed");
  const rest = line.slice(equals + 1);
  // As in a shell, `NAME= 'value'` assigns nothing.
  if (/^[ \t]/.test(rest)) return parsed({ name, value: '', next: start + 1 });
  if (!rest.startsWith("'")) return wrong(start, 'value must be enclosed in single quotes');
  return readQuoted({ lines, start, name, first: rest.slice(1) });
}

interface OpenQuote {
  readonly lines: readonly string[];
  readonly start: number;
  readonly name: string;
  /** What follows the opening quote on its line. */
  readonly first: string;
}

function readQuoted({ lines, start, name, first }: OpenQuote): Parsed<Assignment> {
  const parts: string[] = [];
  for (let index = start, line = first; index < lines.length; index += 1, line = lines[index] ?? '') {
    const close = line.indexOf("'");
    if (close < 0) {
      parts.push(line);
      continue;
    }
    parts.push(line.slice(0, close));
    const after = line.slice(close + 1).replace(/^[ \t]+/, '');
    if (after !== '' && !after.startsWith('#')) return wrong(index, 'unexpected content after closing quote');
    return parsed({ name, value: parts.join('\n'), next: index + 1 });
  }
  return unparsable(`invalid environment variable format starting at line ${start + 1}: unclosed single quote`);
}

function wrong(index: number, what: string): Parsed<never> {
  return unparsable(`invalid environment variable format at line ${index + 1}: ${what}`);
}
