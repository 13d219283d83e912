/** Private keys of the node, and requests that prove that it has them. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { pem } from '../api/x509.ts';
import { bits, objectId, sequence } from '../base/der.ts';
import { type CertificateTemplate, requestInfo } from './rules/certificate-request.ts';

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

/** EC, P-256, PEM in the form of SEC 1. */
export async function makeKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'sec1', format: 'pem' }).toString();
}

export function isKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'ec';
  } catch {
    return false; // half of a file, or something else
  }
}

/** PKCS #10 in PEM. */
export function signRequest(template: CertificateTemplate, key: string): string {
  const privateKey = createPrivateKey(key);
  const info = requestInfo(template, publicKeyOf(privateKey));
  const signature = sign('sha256', info, privateKey);
  return pem('CERTIFICATE REQUEST', sequence(info, sequence(objectId(ECDSA_WITH_SHA256)), bits(signature)));
}

const publicKeyOf = (key: KeyObject): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });

/** The same for the same key and request: a kubelet that is started again finds the request that it made before. */
export function nameOfRequest(template: CertificateTemplate, key: string, usages: readonly string[]): string {
  const hash = createHash('sha512-256');
  const parts = [publicKeyOf(createPrivateKey(key)), template.commonName, ...template.organizations, ...usages];
  for (const part of parts) hash.update(`${Buffer.from(part).toString('base64url')}|`);
  return `node-csr-${hash.digest('base64url')}`;
}

/** Whether a request (PEM) carries the public half of the key. */
export function isRequestOf(request: string, key: string): boolean {
  const der = Buffer.from(request.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64');
  return der.includes(publicKeyOf(createPrivateKey(key)));
}
