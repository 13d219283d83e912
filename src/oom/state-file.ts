/**
 * How far the kernel's log was read and what was counted, so that the next kubelet neither reports a kill again nor misses those
 * of the time between.
 */
import { readFile } from 'node:fs/promises';
import { isMissing } from '../base/errno.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';
import { decodeState, encodeState, type OomState } from './rules/state.ts';

export interface StateFile {
  /** Undefined: there is none of this boot. */
  load(): Promise<OomState | undefined>;
  /** Writes what `state` says when it is its turn: many requests at once are one write. */
  save(state: () => OomState): void;
  /** Resolves when the last write has ended. */
  settled(): Promise<void>;
}

const OPTIONS = { mode: 0o600, durable: false, directoryMode: 0o750 };

export function createStateFile(path: string, bootId: string, log: Logger): StateFile {
  let writing: Promise<void> | undefined;
  let next: (() => OomState) | undefined;
  let isBroken = false;

  const writeAll = async (): Promise<void> => {
    for (let state = next; state !== undefined; state = next) {
      next = undefined;
      try {
        await writeFileAtomically(path, encodeState(state(), bootId), OPTIONS);
        isBroken = false;
      } catch (error) {
        if (!isBroken) log.error('Failed to write the state of the OOM watcher', { path, err: describeError(error) });
        isBroken = true;
      }
    }
    writing = undefined;
  };

  return {
    load: async () => {
      try {
        return decodeState(await readFile(path, 'utf8'), bootId);
      } catch (error) {
        if (!isMissing(error))
          log.error('Failed to read the state of the OOM watcher', { path, err: describeError(error) });
        return undefined;
      }
    },
    save: (state) => {
      next = state;
      writing ??= writeAll();
    },
    settled: async () => {
      await writing;
    },
  };
}
