/** The files of one container's log by their names: `0.log` is the current one, `0.log.STAMP` and `0.log.STAMP.gz` are older. */
const COMPRESSED = '.gz';
const HALF_DONE = '.tmp';

export const compressedName = (rotated: string): string => `${rotated}${COMPRESSED}`;

/** The name of a rotated file, compressed or not; undefined for other files. */
export function rotatedName(file: string, log: string): string | undefined {
  if (!file.startsWith(`${log}.`) || file.endsWith(HALF_DONE)) return undefined;
  return file.endsWith(COMPRESSED) ? file.slice(0, -COMPRESSED.length) : file;
}

/** Oldest first, each once. */
export function rotatedNames(files: readonly string[], log: string): readonly string[] {
  const names = new Set(files.map((file) => rotatedName(file, log)));
  names.delete(undefined);
  return [...(names as Set<string>)].sort();
}
