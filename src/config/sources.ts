import { join, resolve } from 'node:path';
import { describeError } from '../base/errors.ts';
import type { ConfigSource } from './file/decode.ts';
import type { Settings } from './settings.ts';

export type DirectoryEntry = { readonly name: string; readonly isDirectory: boolean };

/** Access to the files; both throw if the path can't be read. */
export type FileReader = {
  readTextFile(path: string): string;
  listDir(path: string): readonly DirectoryEntry[];
  readonly workingDirectory: string;
};

export type SourcesRead = { readonly sources: readonly ConfigSource[]; readonly problems: readonly string[] };

/** The file of `--config` and the drop-ins of `--config-dir`, lowest precedence first. */
export function readSources({ configFile, configDir }: Settings['sources'], reader: FileReader): SourcesRead {
  const sources: ConfigSource[] = [];
  const problems: string[] = [];
  const read = (path: string, kind: ConfigSource['kind'], flag: string) => {
    try {
      sources.push({ path, text: reader.readTextFile(path), kind });
    } catch (error) {
      problems.push(`flag ${flag}: can't read ${path}: ${describeError(error)}`);
    }
  };
  if (configFile !== '') read(resolve(reader.workingDirectory, configFile), 'file', '--config');
  if (configDir !== '') {
    try {
      const dropins = listDropins(resolve(reader.workingDirectory, configDir), reader);
      for (const path of dropins) read(path, 'dropin', '--config-dir');
    } catch (error) {
      problems.push(`flag --config-dir: can't list ${configDir}: ${describeError(error)}`);
    }
  }
  return { sources, problems };
}

/** Each directory in the order of its names, with subdirectories at their position in it, as in the reference. */
function listDropins(directory: string, reader: FileReader): string[] {
  const entries = [...reader.listDir(directory)].sort((a, b) => compareBytes(a.name, b.name));
  return entries.flatMap(({ name, isDirectory }) => {
    const path = join(directory, name);
    if (isDirectory) return listDropins(path, reader);
    return name.endsWith('.conf') ? [path] : [];
  });
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
