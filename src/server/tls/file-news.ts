/** Tells that something happened beside files: where they are, and where the links that they are lead to. */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { IN, type Inotify } from '../../host/inotify.ts';

export interface FileNews {
  /** Watches the folders in which the files are now. Cheap where nothing has changed. */
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
const FOLDER_GONE = IN.deleteSelf | IN.moveSelf | IN.ignored;

export function createFileNews({ inotify, log, onNews }: FileNewsDeps): FileNews {
  const watches = new Map<string, { close(): void }>();
  const unwatchable = new Set<string>();

  const drop = (folder: string) => {
    watches.get(folder)?.close();
    watches.delete(folder);
  };

  const add = (folder: string) => {
    try {
      const watch = inotify.watch(folder, CHANGES | FOLDER_GONE, ({ mask }) => {
        // The name may stand for another folder now: it is watched anew with the next look.
        if (mask & (FOLDER_GONE | IN.overflow)) drop(folder);
        onNews();
      });
      watches.set(folder, watch);
      unwatchable.delete(folder);
    } catch (error) {
      if (!unwatchable.has(folder))
        log.v(2)?.info('Could not watch a folder: it is looked at now and then', { folder, err: describeError(error) });
      unwatchable.add(folder);
    }
  };

  return {
    follow: async (files) => {
      const folders = new Set(files.map(dirname));
      // Where a link leads to nothing, the folder of the link tells when it does again.
      for (const file of files) folders.add(dirname(await realpath(file).catch(() => file)));
      for (const folder of watches.keys()) if (!folders.has(folder)) drop(folder);
      for (const folder of folders) if (!watches.has(folder)) add(folder);
    },
    close: () => {
      for (const folder of [...watches.keys()]) drop(folder);
    },
  };
}
