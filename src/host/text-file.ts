/** Files of the system that are read whole. */
import { readFile } from 'node:fs/promises';

export function readTextFile(path: string): Promise<string> {
  return readFile(path, 'utf8');
}
