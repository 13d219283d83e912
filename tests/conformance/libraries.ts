/** A dynamically linked program of this machine together with the libraries it loads, as files for an image. */
import { readFile } from 'node:fs/promises';
import { captureOk } from '../../tools/machine/capture.ts';
import type { TarEntry } from '../../tools/machine/oci/tar.ts';

/** Paths of the libraries in what ldd(1) prints, the loader included; the kernel's own have none. */
export function parseLibraries(lddOutput: string): readonly string[] {
  const paths = new Set<string>();
  for (const line of lddOutput.split('\n')) {
    if (line.includes('not found')) throw new Error(`a library is missing: ${line.trim()}`);
    const path = /(?:^|=>)\s*(\/\S+) \(0x/.exec(line)?.[1];
    if (path !== undefined) paths.add(path);
  }
  return [...paths];
}

/** The programs at the paths they have here, and each library once. */
export async function programFiles(programs: readonly string[]): Promise<readonly TarEntry[]> {
  const outputs = await Promise.all(programs.map((program) => captureOk(['ldd', program])));
  const libraries = outputs.flatMap(({ stdout }) => parseLibraries(stdout));
  const paths = [...new Set([...programs, ...libraries])].sort();
  return await Promise.all(
    paths.map(async (path): Promise<TarEntry> => ({ kind: 'file', path, mode: 0o755, content: await readFile(path) })),
  );
}
