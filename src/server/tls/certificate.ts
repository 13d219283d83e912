/**
 * Writes X.509 certificates (RFC 5280) with EC keys. Node's crypto can sign but not write them; see docs/dependencies.md for why no library is used.
 */
import { createHash, generateKeyPair, type KeyObject, randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { ALTERNATIVE_NAMES, alternativeNames, distinguishedName, pem } from '../../api/x509.ts';
import { bits, boolean, explicit, implicit, integer, objectId, octets, sequence, time } from '../../base/der.ts';

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly kind: 'authority' | 'server' | 'client';
  /** DNS names and IP addresses of a server. */
  readonly names?: readonly string[];
  /** Wall clock, ms. */
  readonly from: number;
  readonly to: number;
}

export interface Issued {
  /** PEM. */
  readonly certificate: string;
  /** PEM, SEC 1. */
  readonly key: string;
  readonly keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  /** The encoded subject, for the certificates that it signs. */
  readonly name: Buffer;
}

const OBJECTS = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const;

/** Bits of key usage, the first in the highest bit. */
const SIGNS = 0x80;
const ENCIPHERS_KEYS = 0x20;
const SIGNS_CERTIFICATES = 0x04;

/** Creates a new key. Without an issuer the certificate is self-signed. */
export async function issueCertificate(request: CertificateRequest, issuer?: Issued): Promise<Issued> {
  const keys = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const name = distinguishedName(request.commonName, request.organizations ?? []);
  const signer = issuer ?? { name, keys };
  const algorithm = sequence(objectId(OBJECTS.ecdsaWithSha256));
  const body = sequence(
    explicit(0, integer(Uint8Array.of(2))),
    integer(Buffer.concat([Uint8Array.of(1), randomBytes(8)])),
    algorithm,
    signer.name,
    sequence(time(request.from), time(request.to)),
    name,
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions(request, keys.publicKey, signer.keys.publicKey))),
  );
  const signature = sign('sha256', body, signer.keys.privateKey);
  return {
    certificate: pem('CERTIFICATE', sequence(body, algorithm, bits(signature))),
    key: keys.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    keys,
    name,
  };
}

function extensions({ kind, names = [] }: CertificateRequest, own: KeyObject, signer: KeyObject): readonly Buffer[] {
  if (kind === 'authority') {
    return [
      extension(OBJECTS.keyUsage, keyUsage(SIGNS | ENCIPHERS_KEYS | SIGNS_CERTIFICATES), true),
      extension(OBJECTS.basicConstraints, sequence(boolean(true)), true),
      extension(OBJECTS.subjectKeyId, octets(keyId(own))),
    ];
  }
  return [
    extension(OBJECTS.keyUsage, keyUsage(SIGNS | ENCIPHERS_KEYS), true),
    extension(OBJECTS.extendedKeyUsage, sequence(objectId(OBJECTS[kind]))),
    extension(OBJECTS.basicConstraints, sequence(), true),
    extension(OBJECTS.authorityKeyId, sequence(implicit(0, keyId(signer)))),
    ...(names.length === 0 ? [] : [extension(ALTERNATIVE_NAMES, alternativeNames(names))]),
  ];
}

const extension = (id: string, value: Buffer, critical = false) =>
  sequence(objectId(id), ...(critical ? [boolean(true)] : []), octets(value));

const keyUsage = (usage: number) => bits(Uint8Array.of(usage), Math.log2(usage & -usage));

const keyId = (key: KeyObject) =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
