/** The token of a node without a cluster, in a file that only root can read. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { writeFileAtomically } from '../../host/atomic-file.ts';
import { ADMINISTRATORS } from './authorize.ts';
import type { TokenReviews } from './reviews.ts';

const FORM = /^[0-9a-f]{64}$/;

/** The token of an earlier start, so that scripts continue to work, or a new one. */
export async function ensureNodeToken(file: string): Promise<string> {
  const found = await readFile(file, 'utf8').catch(() => '');
  if (FORM.test(found.trim())) {
    await chmod(file, 0o600);
    return found.trim();
  }
  const token = randomBytes(32).toString('hex');
  await writeFileAtomically(file, `${token}\n`, { mode: 0o600, directoryMode: 0o755, durable: true });
  return token;
}

export function reviewNodeToken(token: string): TokenReviews {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const right = digest(token);
  const user = { name: 'node-administrator', groups: [ADMINISTRATORS] };
  return async (shown) => (timingSafeEqual(digest(shown), right) ? user : undefined);
}
