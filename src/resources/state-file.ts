/** A state file of one of the managers: read once, replaced whole, one write at a time. */
import { readFile } from 'node:fs/promises';
import { isMissing } from '../base/errno.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';

export interface StateFile {
  readonly path: string;
  /** Undefined where there is none, or where it can't be read. */
  load(): Promise<string | undefined>;
  /** Writes what `text` answers then, unless it is in the file already. Rejects where that fails. */
  save(text: () => string): Promise<void>;
}

export function createStateFile(path: string, log: Logger): StateFile {
  let written: string | undefined;
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  const write = async (text: () => string): Promise<void> => {
    next = undefined;
    const wanted = text();
    if (wanted === written) return;
    written = undefined;
    // Not synced to the disk: a power failure ends the containers too.
    await writeFileAtomically(path, wanted, { mode: 0o600, directoryMode: 0o750, durable: false });
    written = wanted;
  };

  return {
    path,
    load: async () => {
      try {
        written = await readFile(path, 'utf8');
      } catch (error) {
        if (!isMissing(error)) log.error('Failed to read the state file', { err: error, path });
      }
      return written;
    },
    save: (text) => {
      // Those who come while a write is under way share the next.
      next ??= writing.catch(() => undefined).then(() => write(text));
      writing = next;
      return next;
    },
  };
}
