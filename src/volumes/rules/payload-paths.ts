/** Paths of files in a volume: no path may lead out of it or use the names that are reserved for the atomic swap. */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { quoteText } from '../../base/go-text.ts';
import type { Payload, ProjectedFile } from './payload.ts';

const LONGEST_NAME = 255;
const LONGEST_PATH = 4096;

const text = new TextEncoder();
const bytes = (value: string): number => text.encode(value).length;

/** The same files with their paths in the shortest form, or why one of them is invalid. */
export function cleanPayload(payload: Payload): Parsed<Payload> {
  const clean = new Map<string, ProjectedFile>();
  let changed = false;
  for (const [path, file] of payload) {
    const fault = pathFault(path);
    if (fault !== undefined) return unparsable(`invalid path: ${fault}`);
    const short = cleanPath(path);
    if (short === '') return unparsable(`invalid path: must name a file: ${quoteText(path)}`);
    changed ||= short !== path;
    clean.set(short, file);
  }
  // What needs no change stays the same object: caches recognize it.
  return parsed(changed ? clean : payload);
}

/** Undefined where the path is valid. */
export function pathFault(path: string): string | undefined {
  if (path === '') return 'must not be empty: ""';
  if (path.startsWith('/')) return `must be relative path: ${path}`;
  if (path.includes('\0')) return `must not contain a zero byte: ${quoteText(path)}`;
  if (bytes(path) > LONGEST_PATH) return `must be less than or equal to ${LONGEST_PATH} characters`;
  const names = path.split('/');
  if (names.includes('..')) return `must not contain '..': ${path}`;
  if (names.some((name) => bytes(name) > LONGEST_NAME)) {
    return `filenames must be less than or equal to ${LONGEST_NAME} characters`;
  }
  // After `./` too: the shortest form is what is written.
  return cleanPath(path).startsWith('..') ? `must not start with '..': ${path}` : undefined;
}

export function cleanPath(path: string): string {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
}

/** What is seen in the volume's own directory: the first step of each path. */
export function topNames(paths: Iterable<string>): ReadonlySet<string> {
  return new Set(Array.from(paths, (path) => path.split('/')[0] ?? ''));
}

/** The directories that the paths need, parents before their children, each depth a list of its own. */
export function directoriesByDepth(paths: Iterable<string>): readonly (readonly string[])[] {
  const depths: Set<string>[] = [];
  for (const path of paths) {
    const names = path.split('/');
    for (let depth = 1; depth < names.length; depth += 1) {
      const directories = depths[depth - 1] ?? new Set();
      directories.add(names.slice(0, depth).join('/'));
      depths[depth - 1] = directories;
    }
  }
  return depths.map((directories) => [...directories]);
}
