/** Watches the configuration file and the drop-ins, and reports when they may have changed. */
import { dirname, join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Settings } from './settings.ts';
import type { FileReader } from './sources.ts';

export interface FileWatchDeps {
  readonly clock: Clock;
  readonly reader: Pick<FileReader, 'listDir' | 'workingDirectory'> & {
    /** The file that a path leads to in the end; throws where there is none. */
    resolveLinks(path: string): string;
  };
  /** Calls `listener` after each change in a directory, or of it. Throws where it can't be watched. */
  readonly watch: (directory: string, listener: () => void) => { close(): void };
  /** Called some time after the last of several changes. */
  readonly onChange: () => void;
}

/** A program that replaces several files is given time for that; well within the two seconds that a change may take. */
const SETTLE_MS = 300;

/** Ends when the signal aborts. Directories that do not exist are found when the one above them changes, or at a SIGHUP. */
export function watchConfigFiles(
  { clock, reader, watch, onChange }: FileWatchDeps,
  { configFile, configDir }: Pick<Settings['sources'], 'configFile' | 'configDir'>,
  signal: AbortSignal,
): void {
  const watches = new Map<string, { close(): void }>();
  let isSettling = false;

  const wanted = (): ReadonlySet<string> => {
    const full = (path: string) => resolve(reader.workingDirectory, path);
    const file = configFile === '' ? [] : placesOf(full(configFile), reader);
    const below = configDir === '' ? [] : directoriesBelow(full(configDir), reader);
    return new Set([...file, ...below]);
  };

  const follow = (): void => {
    const directories = wanted();
    for (const [directory, open] of watches) {
      if (directories.has(directory)) continue;
      open.close();
      watches.delete(directory);
    }
    for (const directory of directories) {
      if (watches.has(directory)) continue;
      try {
        watches.set(directory, watch(directory, changed));
      } catch {
        // It is gone again, or the kernel has no watches left: the next change or a SIGHUP tries once more.
      }
    }
  };

  const changed = (): void => {
    if (isSettling) return;
    isSettling = true;
    clock.sleep(SETTLE_MS, signal).then(
      () => {
        isSettling = false;
        follow();
        onChange();
      },
      () => undefined, // the kubelet ends
    );
  };

  signal.addEventListener('abort', () => {
    for (const open of watches.values()) open.close();
    watches.clear();
  });
  follow();
}

/** The directory of the file, and that of the file behind a link: mounted config maps are links to links. */
function placesOf(path: string, { resolveLinks }: FileWatchDeps['reader']): readonly string[] {
  try {
    return [dirname(path), dirname(resolveLinks(path))];
  } catch {
    return [dirname(path)]; // missing just now: its directory announces its return
  }
}

function directoriesBelow(directory: string, reader: FileWatchDeps['reader']): readonly string[] {
  try {
    const inner = reader.listDir(directory).filter(({ isDirectory }) => isDirectory);
    return [directory, ...inner.flatMap(({ name }) => directoriesBelow(join(directory, name), reader))];
  } catch {
    return [dirname(directory)]; // missing just now
  }
}
