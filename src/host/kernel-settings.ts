/** Settings of the kernel below /proc/sys that are one number. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Undefined where this kernel has no such setting. `name` is a path, such as `vm/overcommit_memory`. */
export function readKernelSetting(name: string, root = '/proc/sys'): number | undefined {
  const file = join(root, name);
  return existsSync(file) ? Number(readFileSync(file, 'utf8').trim()) : undefined;
}

export function writeKernelSetting(name: string, value: number, root = '/proc/sys'): void {
  writeFileSync(join(root, name), String(value));
}
