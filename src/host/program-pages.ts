/**
 * The pages of the program file that this process has mapped. A start touches most of Node's 150 MB file, and the kernel maps more around each touch, up to 2 MB
 * at once for a file that was just written: 25 to 55 MB that an idle kubelet never looks at again. They stay in the page cache; what is needed again comes back by itself.
 */
import { readFile } from 'node:fs/promises';

export interface Mapping {
  readonly start: bigint;
  readonly bytes: bigint;
}

const HEAD = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \S+ +(\/\S+)$/;

/** Mappings of files that hold only what the file holds: not writable, and no page was ever changed (as the loader does for relocations). */
export function cleanFileMappings(smaps: string): readonly Mapping[] {
  const found: Mapping[] = [];
  let current: Mapping | undefined;
  for (const line of smaps.split('\n')) {
    if (/^[0-9a-f]+-/.test(line)) current = readHead(line);
    else if (current !== undefined && /^Anonymous: +0 kB$/.test(line)) found.push(current);
  }
  return found;
}

function readHead(line: string): Mapping | undefined {
  const [, start = '', end = '', access = 'w'] = HEAD.exec(line) ?? [];
  if (access.includes('w')) return undefined;
  return { start: BigInt(`0x${start}`), bytes: BigInt(`0x${end}`) - BigInt(`0x${start}`) };
}

export async function releaseProgramPages(release: (mapping: Mapping) => void): Promise<void> {
  for (const mapping of cleanFileMappings(await readFile('/proc/self/smaps', 'utf8'))) release(mapping);
}
