/** Reads and writes the checkpoint. One write at a time; those who come meanwhile share the next. */
import { readFile } from 'node:fs/promises';
import { isMissing } from '../base/errno.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { type Checkpoint, decodeCheckpoint } from './rules/checkpoint.ts';

export interface CheckpointFile {
  /** Undefined: there is none that can be used. */
  read(): Promise<Checkpoint | undefined>;
  /** Resolves when what `encode` returned at the time of this call, or later, is on disk. Rejects where it can't be written. */
  save(): Promise<void>;
}

/** `encode` gives the whole file as it should be now. */
export function createCheckpointFile(path: string, log: Logger, encode: () => string): CheckpointFile {
  let written: string | undefined;
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  const write = async (): Promise<void> => {
    next = undefined;
    const text = encode();
    if (text === written) return;
    // Not synced to the disk: a power failure ends the containers too, and their pods are admitted again.
    await writeFileAtomically(path, text, { mode: 0o600, directoryMode: 0o750, durable: false });
    written = text;
  };

  return {
    read: async () => {
      const text = await readFile(path, 'utf8').catch((error: unknown) => {
        if (!isMissing(error)) log.error('Failed to read data from checkpoint', { err: error, path });
        return undefined;
      });
      if (text === undefined) return undefined;
      const checkpoint = decodeCheckpoint(text);
      if (checkpoint.ok) return checkpoint.value;
      const message = 'Continue after failing to read checkpoint file. Device allocation info may NOT be up-to-date';
      log.error(message, { path, problem: checkpoint.problem });
      return undefined;
    },
    save: () => {
      next ??= writing.then(write, write);
      writing = next;
      return next;
    },
  };
}
