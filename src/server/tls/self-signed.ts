/**
 * A serving certificate for a node that was given none, signed by a CA of its own that is thrown away: clients that want to know whom
 * they talk to need a certificate from elsewhere. Node's crypto signs but writes no X.509; see docs/dependencies.md why no library does.
 */
import { createHash, generateKeyPair, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { parseIpAddress } from '../../api/ip-address.ts';
import { bits, boolean, explicit, implicit, integer, objectId, octets, sequence, set, text, time } from './der.ts';

export interface KeyPair {
  /** PEM: the certificate, then its CA. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

const OBJECTS = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

/** Bits of key usage, the first in the highest bit. */
const SIGNS = 0x80;
const ENCIPHERS_KEYS = 0x20;
const SIGNS_CERTIFICATES = 0x04;

/** For the node's name or address; valid from an hour ago, since clocks differ, for a year. */
export async function createSelfSigned(host: string, now: number): Promise<KeyPair> {
  const keys = () => promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const [authority, own] = await Promise.all([keys(), keys()]);
  const seconds = Math.floor(now / 1000);
  const [caName, ownName] = [`${host}-ca@${seconds}`, `${host}@${seconds}`];
  const issue = (subject: string, publicKey: KeyObject, extensions: readonly Buffer[]) =>
    signed({ issuer: caName, subject, publicKey, now, extensions }, authority.privateKey);
  const caId = keyId(authority.publicKey);
  const ca = issue(caName, authority.publicKey, [
    extension(OBJECTS.keyUsage, keyUsage(SIGNS | ENCIPHERS_KEYS | SIGNS_CERTIFICATES), true),
    extension(OBJECTS.basicConstraints, sequence(boolean(true)), true),
    extension(OBJECTS.subjectKeyId, octets(caId)),
  ]);
  const certificate = issue(ownName, own.publicKey, [
    extension(OBJECTS.keyUsage, keyUsage(SIGNS | ENCIPHERS_KEYS), true),
    extension(OBJECTS.extendedKeyUsage, sequence(objectId(OBJECTS.serverAuth))),
    extension(OBJECTS.basicConstraints, sequence(), true),
    extension(OBJECTS.authorityKeyId, sequence(implicit(0, caId))),
    extension(OBJECTS.alternativeNames, sequence(alternativeName(host))),
  ]);
  return {
    certificate: pem('CERTIFICATE', certificate) + pem('CERTIFICATE', ca),
    key: own.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  };
}

interface Unsigned {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly now: number;
  readonly extensions: readonly Buffer[];
}

function signed({ issuer, subject, publicKey, now, extensions }: Unsigned, signer: KeyObject): Buffer {
  const algorithm = sequence(objectId(OBJECTS.ecdsaWithSha256));
  const body = sequence(
    explicit(0, integer(Uint8Array.of(2))),
    integer(Buffer.concat([Uint8Array.of(1), randomBytes(8)])),
    algorithm,
    name(issuer),
    sequence(time(now - HOUR_MS), time(now - HOUR_MS + YEAR_MS)),
    name(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  );
  return sequence(body, algorithm, bits(sign('sha256', body, signer)));
}

const name = (commonName: string) => sequence(set(sequence(objectId(OBJECTS.commonName), text(commonName))));

const extension = (id: string, value: Buffer, critical = false) =>
  sequence(objectId(id), ...(critical ? [boolean(true)] : []), octets(value));

const keyUsage = (usage: number) => bits(Uint8Array.of(usage), trailingZeros(usage));

const trailingZeros = (byte: number) => Math.log2(byte & -byte);

function alternativeName(host: string): Buffer {
  if (isIP(host) === 0) return implicit(2, Buffer.from(host, 'ascii'));
  return implicit(7, Uint8Array.from(parseIpAddress(host)?.bytes ?? []));
}

const keyId = (key: KeyObject) =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
