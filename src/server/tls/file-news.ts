/** Tells that something happened beside files: where they are, and where the links that they are lead to. */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { IN, type Inotify } from '../../host/inotify.ts';

export interface FileNews {
  /** Watches the directories in which the files are now. Cheap where nothing has changed. */
  follow(files: readonly string[]): Promise<void>;
  close(): void;
}

export interface FileNewsDeps {
  readonly inotify: Pick<Inotify, 'watch'>;
  readonly log: Logger;
  readonly onNews: () => void;
}

/** A mounted secret changes by a link that is renamed over another one; others write, or move a file into place. */
const CHANGES = IN.closeWrite | IN.movedTo | IN.create;
const DIRECTORY_GONE = IN.deleteSelf | IN.moveSelf | IN.ignored;

export function createFileNews({ inotify, log, onNews }: FileNewsDeps): FileNews {
  const watches = new Map<string, { close(): void }>();
  const unwatchable = new Set<string>();

  const drop = (directory: string) => {
    watches.get(directory)?.close();
    watches.delete(directory);
  };

  const add = (directory: string) => {
    try {
      const watch = inotify.watch(directory, CHANGES | DIRECTORY_GONE, ({ mask }) => {
        // The name may stand for another directory now: it is watched anew with the next look.
        if (mask & (DIRECTORY_GONE | IN.overflow)) drop(directory);
        onNews();
      });
      watches.set(directory, watch);
      unwatchable.delete(directory);
    } catch (error) {
      if (!unwatchable.has(directory))
        log
          .v(2)
          ?.info('Could not watch a directory: it is looked at now and then', { directory, err: describeError(error) });
      unwatchable.add(directory);
    }
  };

  return {
    follow: async (files) => {
      const directories = new Set(files.map(dirname));
      // Where a link leads to nothing, the directory of the link tells when it does again.
      for (const file of files) directories.add(dirname(await realpath(file).catch(() => file)));
      for (const directory of watches.keys()) if (!directories.has(directory)) drop(directory);
      for (const directory of directories) if (!watches.has(directory)) add(directory);
    },
    close: () => {
      for (const directory of [...watches.keys()]) drop(directory);
    },
  };
}
