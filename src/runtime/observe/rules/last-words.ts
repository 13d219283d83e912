/** What an ended container wants to be remembered by: the file it was given for that, or the end of its log. */
import type { ContainerStatus } from '../../../wire/gen/cri-runtime-v1.ts';
import { TERMINATION_MESSAGE_PATH, TERMINATION_MESSAGE_POLICY } from '../../spec/labels.ts';

/** Bytes of the file, and bytes and lines of the log, that users have always been shown. */
export const LONGEST_MESSAGE = 4096;
export const LONGEST_LOG_MESSAGE = 2048;
const LOG_LINES = 80;

export interface LastWords {
  /** Undefined: the container has no such file. */
  readonly file: string | undefined;
  /** Read if the file is empty; undefined: it isn't. */
  readonly log: string | undefined;
}

export function lastWordsOf(status: ContainerStatus): LastWords {
  const inside = status.annotations[TERMINATION_MESSAGE_PATH] ?? '';
  const file = inside === '' ? undefined : status.mounts.find((mount) => mount.containerPath === inside)?.hostPath;
  const wantsLog =
    status.annotations[TERMINATION_MESSAGE_POLICY] === 'FallbackToLogsOnError' &&
    status.exitCode !== 0 &&
    status.reason !== 'ContainerCannotRun';
  return { file, log: wantsLog && status.logPath !== '' ? status.logPath : undefined };
}

/** The runtime's own message comes first. */
export function joinMessage(runtime: string, lastWords: string): string {
  return runtime === '' || lastWords === '' ? runtime + lastWords : `${runtime}: ${lastWords}`;
}

/** The text of the last lines of a log in CRI's format (`time stream P|F text`), cut to what is shown. */
export function logMessage(tail: string, whole: boolean): string {
  const lines = tail.split('\n');
  // The first line of a cut tail may be half a line.
  const complete = whole ? lines : lines.slice(1);
  const texts = complete.filter((line) => line !== '').map(parseLine);
  const text = texts.slice(-LOG_LINES).join('');
  return text.length > LONGEST_LOG_MESSAGE ? text.slice(-LONGEST_LOG_MESSAGE) : text;
}

function parseLine(line: string): string {
  const match = /^\S+ (?:stdout|stderr) (\S+) (.*)$/s.exec(line);
  if (match === null) return `${line}\n`;
  const partial = (match[1] ?? '').split(':').includes('P');
  return partial ? (match[2] ?? '') : `${match[2] ?? ''}\n`;
}
