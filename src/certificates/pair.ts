/** A certificate with its key, as it is in one PEM file, and what is known of it. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { CodedError } from '../base/errors.ts';
import { type CertificateFacts, canonicalIp } from './rules/certificate-facts.ts';

export interface CertificatePair {
  /** PEM: the certificate, and those that lead to its authority. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
  readonly facts: CertificateFacts;
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;
const KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----\n?/;

/** Reads both from one text; throws where they are missing or do not belong together. */
export function readPair(pem: string): CertificatePair {
  const key = KEY.exec(pem)?.[0];
  if (key === undefined) throw new CodedError('invalid', 'there is no private key');
  return makePair(pem, key);
}

export function makePair(certificates: string, key: string): CertificatePair {
  const found = certificates.match(CERTIFICATES) ?? [];
  const [first] = found;
  if (first === undefined) throw new CodedError('invalid', 'there is no certificate');
  const parsed = parse(() => new X509Certificate(first), 'the certificate is not in the form of one');
  const privateKey: KeyObject = parse(() => createPrivateKey(key), 'the private key is not in the form of one');
  if (!parsed.checkPrivateKey(privateKey)) {
    throw new CodedError('invalid', 'the private key does not belong to the certificate');
  }
  return { certificate: found.map(endLine).join(''), key: endLine(key), facts: factsOf(parsed) };
}

const endLine = (text: string) => (text.endsWith('\n') ? text : `${text}\n`);

function parse<T>(read: () => T, message: string): T {
  try {
    return read();
  } catch (cause) {
    throw new CodedError('invalid', message, { cause });
  }
}

function factsOf(parsed: X509Certificate): CertificateFacts {
  const subject = parsed.subject.split('\n');
  const names = (parsed.subjectAltName ?? '').split(', ');
  const after = (lines: readonly string[], prefix: string) =>
    lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  return {
    notBefore: parsed.validFromDate.getTime(),
    notAfter: parsed.validToDate.getTime(),
    commonName: after(subject, 'CN=')[0] ?? '',
    organizations: after(subject, 'O='),
    dnsNames: after(names, 'DNS:'),
    ips: after(names, 'IP Address:').map(canonicalIp),
  };
}
