/** Watches the directories that lead to the manifests, and remembers which files are being written just now. */
import { join } from 'node:path';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import { IN, type Inotify, type InotifyEvent } from '../host/inotify.ts';
import { isManifestName } from './rules/manifest-files.ts';
import type { WatchedPlace, WatchedPlaces } from './watched-places.ts';

/**
 * - writing: a process has it open and has written to it
 * - complete: closed after writing, or moved here as a whole
 */
export type WriteState = 'writing' | 'complete';

export interface DirectoryWatch {
  /** Watches these directories from now on and no others. Answers whether one was added, so that it must be looked at again. */
  follow(places: WatchedPlaces): boolean;
  /** What was seen of a file; undefined if nothing. `complete` is returned once: the file will be read now. */
  takeState(path: string): WriteState | undefined;
  /** The files that were deleted since the last call. One that was only moved away is none of them: editors do that. */
  takeDeleted(): ReadonlySet<string>;
  close(): void;
}

export interface DirectoryWatchDeps {
  readonly inotify: Pick<Inotify, 'watch'>;
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'guard'>;
  /** Something changed: read again. */
  readonly wake: () => void;
}

const CHANGES = IN.modify | IN.attributes | IN.closeWrite | IN.movedFrom | IN.movedTo | IN.create | IN.delete;
const DIRECTORY_GONE = IN.deleteSelf | IN.moveSelf | IN.ignored;

export function createDirectoryWatch({ inotify, log, supervisor, wake }: DirectoryWatchDeps): DirectoryWatch {
  const watches = new Map<string, { readonly place: WatchedPlace; readonly close: () => void }>();
  const states = new Map<string, WriteState>();
  let deleted = new Set<string>();
  const unwatchable = new Set<string>();

  const onEvent = (directory: string, event: InotifyEvent) => {
    if (event.mask & (DIRECTORY_GONE | IN.overflow)) {
      // The name may stand for another directory now, so it is watched again.
      watches.get(directory)?.close();
      watches.delete(directory);
      wake();
      return;
    }
    const place = watches.get(directory)?.place;
    if (place === undefined || !matters(place, event.name)) return;
    const path = join(directory, event.name);
    if (event.mask & IN.modify) states.set(path, 'writing');
    if (event.mask & (IN.closeWrite | IN.movedTo)) states.set(path, 'complete');
    if (event.mask & (IN.delete | IN.movedFrom)) states.delete(path);
    if (event.mask & IN.delete) deleted.add(path);
    // While it is being written there is nothing to read; another event follows when it is closed.
    if (event.mask & ~IN.modify) wake();
  };

  const add = (directory: string, place: WatchedPlace): boolean => {
    try {
      const watch = inotify.watch(directory, CHANGES | DIRECTORY_GONE, (event) =>
        supervisor.guard('file source', { directory }, () => onEvent(directory, event)),
      );
      watches.set(directory, { place, close: watch.close });
      unwatchable.delete(directory);
      return true;
    } catch (error) {
      if (!unwatchable.has(directory)) {
        log.warn('Failed to watch directory, changes are seen only at the check interval', {
          directory,
          err: describeError(error),
        });
      }
      unwatchable.add(directory);
      return false;
    }
  };

  return {
    follow: (places) => {
      for (const [directory, watch] of watches) {
        if (places.has(directory)) continue;
        watch.close();
        watches.delete(directory);
      }
      let added = false;
      for (const [directory, place] of places) {
        const watch = watches.get(directory);
        if (watch === undefined) added = add(directory, place) || added;
        else watches.set(directory, { ...watch, place });
      }
      return added;
    },
    takeState: (path) => {
      const state = states.get(path);
      if (state === 'complete') states.delete(path);
      return state;
    },
    takeDeleted: () => {
      const taken = deleted;
      deleted = new Set();
      return taken;
    },
    close: () => {
      for (const { close } of watches.values()) close();
      watches.clear();
    },
  };
}

function matters(place: WatchedPlace, name: string): boolean {
  return place.names.has(name) || (place.manifests && isManifestName(name));
}
