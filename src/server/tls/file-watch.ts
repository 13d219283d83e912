/** Watches the directories of files and of the targets of their links. */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { IN, type Inotify } from '../../host/inotify.ts';

export interface FileWatch {
  /** Watches the directories in which the files are now. Cheap if nothing has changed. */
  follow(files: readonly string[]): Promise<void>;
  close(): void;
}

export interface FileWatchDeps {
  readonly inotify: Pick<Inotify, 'watch'>;
  readonly log: Logger;
  readonly onChange: () => void;
}

/** A mounted secret changes by renaming a link over another one; other tools write a file, or move one into place. */
const CHANGES = IN.closeWrite | IN.movedTo | IN.create;
const DIRECTORY_GONE = IN.deleteSelf | IN.moveSelf | IN.ignored;

export function createFileWatch({ inotify, log, onChange }: FileWatchDeps): FileWatch {
  const watches = new Map<string, { close(): void }>();
  const unwatchable = new Set<string>();

  const drop = (directory: string) => {
    watches.get(directory)?.close();
    watches.delete(directory);
  };

  const add = (directory: string) => {
    try {
      const watch = inotify.watch(directory, CHANGES | DIRECTORY_GONE, ({ mask }) => {
        // The path may be another directory now: the next check watches it again.
        if (mask & (DIRECTORY_GONE | IN.overflow)) drop(directory);
        onChange();
      });
      watches.set(directory, watch);
      unwatchable.delete(directory);
    } catch (error) {
      if (!unwatchable.has(directory))
        log
          .v(2)
          ?.info('Failed to watch a directory, it is checked periodically', { directory, err: describeError(error) });
      unwatchable.add(directory);
    }
  };

  return {
    follow: async (files) => {
      const directories = new Set(files.map(dirname));
      // If the target of a link is missing, the watch of the link's directory reports when the link changes.
      for (const file of files) directories.add(dirname(await realpath(file).catch(() => file)));
      for (const directory of watches.keys()) if (!directories.has(directory)) drop(directory);
      for (const directory of directories) if (!watches.has(directory)) add(directory);
    },
    close: () => {
      for (const directory of [...watches.keys()]) drop(directory);
    },
  };
}
