/**
 * The last good text of each manifest, on disk: a manifest that is broken when the kubelet starts, or a server that is down then,
 * must not end the pods that it described before. One file for each origin; what it loses in a crash is only that help.
 */

import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../base/errno.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';

export interface LastGood {
  /** Undefined: nothing is known. */
  read(origin: string): Promise<string | undefined>;
  /** Takes note and returns at once; the newest text of an origin is what stays. */
  write(origin: string, text: string): void;
  /** Forgets all but these. */
  keepOnly(origins: readonly string[]): void;
  /** Resolves when everything is written. */
  settled(): Promise<void>;
}

const ENDING = '.manifest';

/** For kubelets without a directory of their own. */
export function createNoLastGood(): LastGood {
  return {
    read: () => Promise.resolve(undefined),
    write: () => undefined,
    keepOnly: () => undefined,
    settled: () => Promise.resolve(),
  };
}

export function createLastGood(directory: string, log: Logger): LastGood {
  const waiting = new Map<string, string>();
  let running: Promise<void> = Promise.resolve();
  let problem: string | undefined;

  const enqueue = (step: () => Promise<void>) => {
    running = running.then(step).then(
      () => {
        problem = undefined;
      },
      (error: unknown) => {
        const text = describeError(error);
        if (text !== problem) log.warn('Cannot keep the last good manifests', { directory, err: text });
        problem = text;
      },
    );
  };

  const store = async (origin: string) => {
    const text = waiting.get(origin);
    if (text === undefined) return;
    waiting.delete(origin);
    // Manifests may hold passwords in variables.
    const options = { mode: 0o600, directoryMode: 0o700, durable: false };
    await writeFileAtomically(join(directory, fileOf(origin)), text, options);
  };

  return {
    read: async (origin) => {
      try {
        return await readFile(join(directory, fileOf(origin)), 'utf8');
      } catch (error) {
        if (!isMissing(error)) log.warn('Cannot read the last good manifest', { origin, err: describeError(error) });
        return undefined;
      }
    },
    write: (origin, text) => {
      waiting.set(origin, text);
      enqueue(() => store(origin));
    },
    keepOnly: (origins) => {
      const wanted = new Set(origins.map(fileOf));
      enqueue(async () => {
        const names = await readdir(directory).catch((error: unknown) => {
          if (isMissing(error)) return [];
          throw error;
        });
        for (const name of names) if (!wanted.has(name)) await rm(join(directory, name), { force: true });
      });
    },
    settled: () => running,
  };
}

function fileOf(origin: string): string {
  return `${createHash('sha256').update(origin).digest('hex').slice(0, 32)}${ENDING}`;
}
