/** Reads the certificates and keys that the kubeconfig names, and detects whether they have changed. */
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { CodedError } from '../base/errors.ts';
import type { Access } from './rules/kubeconfig.ts';
import type { PemSource } from './rules/pem-source.ts';

export interface TlsMaterial {
  /** Undefined: the authorities that the machine trusts. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Not cached: every new connection uses the current content of the files. */
export async function readMaterial({ cluster, user }: Access): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([
    readPemSource(cluster.authority, 'certificate authority'),
    readPemSource(user.certificate?.cert, 'client certificate'),
    readPemSource(user.certificate?.key, 'client key'),
  ]);
  return { ca, cert, key };
}

/** Throws an error that names the unusable one. */
export function checkMaterial({ ca, cert, key }: TlsMaterial): void {
  try {
    if (ca !== undefined) createSecureContext({ ca });
  } catch (cause) {
    throw new CodedError('invalid', 'the certificate authority of the API server is not a certificate in PEM format', {
      cause,
    });
  }
  try {
    // Any authority serves here: without one, Node would read all that the machine trusts, several megabytes.
    if (cert !== undefined && key !== undefined) createSecureContext({ cert, key, ca: cert });
  } catch (cause) {
    throw new CodedError('invalid', 'client certificate and key are not a matching pair in PEM format', { cause });
  }
}

/** Changes with the content of the files. A file that is missing for a moment, while it is replaced, is a change too. */
export async function fingerprint({ cluster, user }: Access): Promise<string> {
  const sources = [cluster.authority, user.certificate?.cert, user.certificate?.key];
  const marks = sources.map((source) => (source?.kind === 'file' ? fileMark(source.path) : ''));
  return (await Promise.all(marks)).join(' ');
}

/** Changes with the content of a file. */
export async function fileMark(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? 'missing' : `${found.ino}:${found.size}:${found.mtimeMs}`;
}

async function readPemSource(source: PemSource | undefined, what: string): Promise<string | undefined> {
  if (source === undefined) return undefined;
  if (source.kind === 'inline') return source.pem;
  try {
    const pem = await readFile(source.path, 'latin1');
    if (pem.includes('-----BEGIN ')) return pem;
  } catch (cause) {
    throw new CodedError('unavailable', `failed to read the ${what} ${source.path}`, { cause });
  }
  throw new CodedError('invalid', `the ${what} ${source.path} is not in PEM format`);
}
