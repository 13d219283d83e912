/**
 * A serving certificate for a node without a configured one. Its CA is discarded after signing: clients that verify the server need
 * a configured certificate.
 */
import { issueCertificate } from './certificate.ts';

export interface KeyPair {
  /** PEM: the certificate, then its CA. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** For the node's name or address; valid from an hour ago, since clocks differ, for a year. */
export async function createSelfSigned(host: string, now: number): Promise<KeyPair> {
  const seconds = Math.floor(now / 1000);
  const [from, to] = [now - HOUR_MS, now - HOUR_MS + YEAR_MS];
  const authority = await issueCertificate({ kind: 'authority', commonName: `${host}-ca@${seconds}`, from, to });
  const own = await issueCertificate(
    { kind: 'server', commonName: `${host}@${seconds}`, names: [host], from, to },
    authority,
  );
  return { certificate: own.certificate + authority.certificate, key: own.key };
}
