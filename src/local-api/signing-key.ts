/** The key that signs the tokens of service accounts: made when the first token is asked for, and kept over restarts, for root only. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isMissing } from '../base/errno.ts';
import { writeFileAtomically } from '../host/atomic-file.ts';

export interface SigningKey {
  /** A JSON web token with these claims. */
  sign(claims: object): Promise<string>;
  /** The public half, as `/openid/v1/jwks` shows it. */
  publicKeys(): Promise<{ readonly keys: readonly object[] }>;
}

const encode = (value: object | Buffer): string =>
  (Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))).toString('base64url');

export function createSigningKey({ file }: { readonly file: string }): SigningKey {
  let pending: Promise<Kept> | undefined;
  const use = async (): Promise<Kept> => {
    pending ??= keep(file);
    try {
      return await pending;
    } catch (error) {
      pending = undefined;
      throw error;
    }
  };
  return {
    sign: async (claims) => {
      const { key, id } = await use();
      const text = `${encode({ alg: 'ES256', kid: id, typ: 'JWT' })}.${encode(claims)}`;
      return `${text}.${encode(sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }))}`;
    },
    publicKeys: async () => {
      const { id, shown } = await use();
      return { keys: [{ use: 'sig', kid: id, alg: 'ES256', ...shown }] };
    },
  };
}

interface Kept {
  readonly key: KeyObject;
  readonly id: string;
  readonly shown: object;
}

async function keep(file: string): Promise<Kept> {
  const found = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  const pem = found ?? (await make(file));
  const open = createPublicKey(pem);
  const id = createHash('sha256')
    .update(open.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  return { key: createPrivateKey(pem), id, shown: open.export({ format: 'jwk' }) };
}

async function make(file: string): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await writeFileAtomically(file, pem, { mode: 0o600, directoryMode: 0o700, durable: true });
  return pem;
}
