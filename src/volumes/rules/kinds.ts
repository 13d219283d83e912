/** What kind of volume a volume is, and whether a path of the node is what the pod expects there. */
import type { Volume } from '../../api/volume.ts';

export type PathKind = 'missing' | 'directory' | 'file' | 'socket' | 'character device' | 'block device' | 'other';

/** Of each `type` of a hostPath: what must be there, and how the error calls it. */
const EXPECTED: Readonly<Record<string, readonly [PathKind, string]>> = {
  Directory: ['directory', 'a directory'],
  DirectoryOrCreate: ['directory', 'a directory'],
  File: ['file', 'a file'],
  FileOrCreate: ['file', 'a file'],
  Socket: ['socket', 'a socket file'],
  CharDevice: ['character device', 'a character device'],
  BlockDevice: ['block device', 'a block device'],
};

/** Undefined where the path will do. */
export function hostPathFault(path: string, type: string, found: PathKind): string | undefined {
  if (type === '') return undefined;
  const expected = EXPECTED[type];
  if (expected === undefined) {
    return `hostPath type ${JSON.stringify(type)} is unknown: allowed are ${Object.keys(EXPECTED).join(', ')} and none`;
  }
  const [kind, name] = expected;
  return found === kind ? undefined : `hostPath type check failed: ${path} is not ${name}`;
}

/** The field that says what the volume is: `emptyDir` with its medium, `secret`, `csi`… */
export function volumeKind(volume: Volume): string {
  const kind = Object.entries(volume).find(([key, value]) => key !== 'name' && value !== undefined)?.[0] ?? 'none';
  const medium = volume.emptyDir?.medium ?? '';
  return kind === 'emptyDir' && medium !== '' ? `emptyDir with medium ${medium}` : kind;
}
