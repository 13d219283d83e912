/** The last lines of a log file: what an error message should quote. */
import { readFileSync } from 'node:fs';

export function logTail(file: string, lines = 15): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return `(${file} can't be read: ${String(error)})`;
  }
  return text.trimEnd().split('\n').slice(-lines).join('\n') || '(empty)';
}
