/** For tests of volumes: payloads from short texts, and what a directory holds as lines of text. */

import { lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasErrno } from '../base/errno.ts';
import type { Payload } from './rules/payload.ts';

const text = new TextEncoder();

export function payloadOf(files: Readonly<Record<string, string>>, mode = 0o644): Payload {
  return new Map(Object.entries(files).map(([path, content]) => [path, { data: text.encode(content), mode }]));
}

export interface TestDirectory extends AsyncDisposable {
  readonly path: string;
}

export async function testDirectory(): Promise<TestDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'kubelet-ts-volume-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const STAMP = /\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+/g;

/** `path kind mode uid:gid target` of everything below, sorted; the names of the volume's own directories are `..STAMP`. */
export async function treeOf(directory: string): Promise<readonly string[]> {
  const lines = await linesBelow(directory, '');
  return lines.map((line) => line.replaceAll(STAMP, '..STAMP')).sort();
}

async function linesBelow(directory: string, inside: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const entry of await readdir(join(directory, inside), { withFileTypes: true })) {
    const path = join(inside, entry.name);
    const { mode, uid, gid } = await lstat(join(directory, path));
    const target = entry.isSymbolicLink() ? await readlink(join(directory, path)) : '';
    const kind = entry.isSymbolicLink() ? 'l' : entry.isDirectory() ? 'd' : 'f';
    lines.push([path, kind, (mode & 0o7777).toString(8), `${uid}:${gid}`, target].join(' ').trimEnd());
    if (entry.isDirectory()) lines.push(...(await linesBelow(directory, path)));
  }
  return lines;
}

/** What a program in a container reads: each file by its visible path. */
export async function visibleFiles(directory: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(directory)).filter((name) => !name.startsWith('..'));
  const files: [string, string][] = [];
  const walk = async (path: string): Promise<void> => {
    try {
      files.push([path, await readFile(join(directory, path), 'utf8')]);
    } catch (error) {
      if (!hasErrno(error, 'EISDIR')) throw error;
      for (const name of await readdir(join(directory, path))) await walk(join(path, name));
    }
  };
  for (const name of names) await walk(name);
  return Object.fromEntries(files.sort());
}
