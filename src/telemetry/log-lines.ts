/** The two forms of a log line, klog's text and JSON, as pure functions of an entry. */
import { describeError } from '../base/errors.ts';
import { quoteText } from '../base/go-text.ts';
import { localTime } from '../base/local-time.ts';
import type { LogValues } from '../base/logger.ts';
import type { Caller } from './caller.ts';
import { jsonText } from './quote.ts';

export type Severity = 'I' | 'W' | 'E';

export interface LogEntry {
  readonly severity: Severity;
  /** Wall clock in milliseconds, with fractions. */
  readonly time: number;
  readonly pid: number;
  readonly caller: Caller;
  readonly verbosity: number;
  readonly message: string;
  /** Values of the logger, then those of the call; a later one replaces an earlier one of the same name. */
  readonly values: LogValues;
}

/** `I1115 13:36:44.123456     812 worker.ts:42] "Pod started" pod="default/web" attempts=3` */
export function textLine(entry: LogEntry): string {
  const { caller, values } = entry;
  let line = `${entry.severity}${klogTime(entry.time)} ${String(entry.pid).padStart(7)} ${baseName(caller.file)}:${caller.line}] `;
  line += quoteText(entry.message);
  if ('err' in values && values['err'] !== undefined) line += textPair('err', values['err']);
  for (const key in values) {
    if (key !== 'err' && values[key] !== undefined) line += textPair(key, values[key]);
  }
  return `${line}\n`;
}

/** `{"ts":1763213804123.456,"caller":"pods/worker.ts:42","msg":"Pod started","v":0,"pod":"default/web"}` */
export function jsonLine(entry: LogEntry): string {
  const { caller, values } = entry;
  let line = `{"ts":${microseconds(entry.time)},"caller":${jsonText(`${lastTwo(caller.file)}:${caller.line}`)}`;
  line += `,"msg":${jsonText(entry.message)}`;
  if (entry.severity !== 'E') line += `,"v":${entry.verbosity}`;
  for (const key in values) {
    if (key !== 'err' && values[key] !== undefined) line += `,${jsonText(key)}:${jsonText(readable(values[key]))}`;
  }
  if ('err' in values && values['err'] !== undefined) line += `,"err":${jsonText(readable(values['err']))}`;
  return `${line}}\n`;
}

function klogTime(ms: number): string {
  const time = localTime(Math.floor(ms));
  const date = `${two(time.month)}${two(time.day)} ${two(time.hour)}:${two(time.minute)}:${two(time.second)}`;
  const micros = Math.floor((ms % 1000) * 1000);
  return `${date}.${String(micros).padStart(6, '0')}`;
}

function textPair(key: string, value: unknown): string {
  const shown = readable(value);
  if (typeof shown !== 'string') return ` ${key}=${jsonText(shown)}`;
  if (!shown.includes('\n')) return ` ${key}=${quoteText(shown)}`;
  // Text of several lines stays readable: indented, between `<` and `>` on a line of its own.
  const lines = shown.replace(/\n$/, '').split('\n');
  return ` ${key}=<\n${lines.map((text) => `\t${text}\n`).join('')} >`;
}

function readable(value: unknown): unknown {
  return value instanceof Error ? describeError(value) : value;
}

const microseconds = (ms: number): string => String(Math.floor(ms * 1000) / 1000);
const two = (value: number): string => (value < 10 ? `0${value}` : String(value));
const baseName = (file: string): string => file.slice(file.lastIndexOf('/') + 1);
const lastTwo = (file: string): string => file.split('/').slice(-2).join('/');
