/** Whether a path of the node is what the pod expects there. */
import type { Parsed } from '../../api/parsed.ts';
import { parsed, unparsable } from '../../api/parsed.ts';

/** What a file job finds at a path. */
export type FoundKind = 'missing' | 'directory' | 'file' | 'socket' | 'character device' | 'block device' | 'other';

export interface HostPathCheck {
  /** Undefined: not checked. */
  readonly expected: FoundKind | undefined;
  readonly make: 'directory' | 'file' | undefined;
  /** How the error calls what is expected. */
  readonly name: string;
}

const CHECKS: Readonly<Record<string, HostPathCheck>> = {
  Directory: { expected: 'directory', make: undefined, name: 'a directory' },
  DirectoryOrCreate: { expected: 'directory', make: 'directory', name: 'a directory' },
  File: { expected: 'file', make: undefined, name: 'a file' },
  FileOrCreate: { expected: 'file', make: 'file', name: 'a file' },
  Socket: { expected: 'socket', make: undefined, name: 'a socket file' },
  CharDevice: { expected: 'character device', make: undefined, name: 'a character device' },
  BlockDevice: { expected: 'block device', make: undefined, name: 'a block device' },
};

const UNCHECKED: HostPathCheck = { expected: undefined, make: undefined, name: 'anything' };

export function hostPathCheck(path: string, type: string): Parsed<HostPathCheck> {
  if (path.split('/').includes('..')) return unparsable(`invalid HostPath \`${path}\`: must not contain '..'`);
  if (type === '') return parsed(UNCHECKED);
  const check = Object.hasOwn(CHECKS, type) ? CHECKS[type] : undefined;
  if (check !== undefined) return parsed(check);
  const allowed = Object.keys(CHECKS).join(', ');
  return unparsable(`hostPath type ${JSON.stringify(type)} is unknown: allowed are ${allowed} and none`);
}

/** Undefined where the path is as expected. */
export function hostPathFault(path: string, check: HostPathCheck, found: FoundKind): string | undefined {
  if (check.expected === undefined || check.expected === found) return undefined;
  return `hostPath type check failed: ${path} is not ${check.name}`;
}
