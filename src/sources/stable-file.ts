/** Reads a file that others may be writing. */
import { open } from 'node:fs/promises';
import { isPathMissing } from '../base/errno.ts';
import { describeError } from '../base/errors.ts';
import type { FoundFile } from './found-files.ts';

/** As much as the reference reads. */
export const LONGEST_MANIFEST = 10 * 1024 * 1024;

export type ManifestText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Changed: it is another one than was found, or was changed while it was read. */
export type FileContent = ManifestText | { readonly kind: 'changed' };

export async function readStable(file: FoundFile): Promise<FileContent> {
  try {
    await using handle = await open(file.target, 'r');
    const before = await handle.stat({ bigint: true });
    if (before.size > BigInt(LONGEST_MANIFEST)) {
      return { kind: 'unreadable', problem: `${before.size} bytes are too long; at most ${LONGEST_MANIFEST} are read` };
    }
    const bytes = await handle.readFile();
    const after = await handle.stat({ bigint: true });
    const { dev, ino, size, mtimeNs, ctimeNs } = after;
    if ([dev, ino, size, mtimeNs, ctimeNs].join(':') !== file.fingerprint) return { kind: 'changed' };
    return decodeText(bytes);
  } catch (error) {
    if (isPathMissing(error)) return { kind: 'changed' };
    return { kind: 'unreadable', problem: `cannot be read: ${describeError(error)}` };
  }
}

export function decodeText(bytes: Uint8Array): ManifestText {
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { kind: 'unreadable', problem: `is not UTF-8 text: ${describeError(error)}` };
  }
}
