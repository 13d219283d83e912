/** When a certificate is replaced, and why. Times are wall clock, ms. */
import { type CertificateFacts, canonicalIp } from './certificate-facts.ts';
import type { CertificateTemplate } from './certificate-request.ts';

export interface RotationSnapshot {
  /** Undefined: there is none, or it can't be read. */
  readonly certificate: CertificateFacts | undefined;
  /** When this process got it; undefined: it was there before. */
  readonly receivedAt: number | undefined;
  /** Undefined: it is not known yet what to ask for. */
  readonly template: CertificateTemplate | undefined;
  /** Whether a good certificate is replaced before its end; otherwise only one that is missing or expired. */
  readonly rotates: boolean;
  /** 0 to below 1, drawn once for each certificate: not all nodes of a cluster rotate at once. */
  readonly jitter: number;
  readonly now: number;
}

export type RotationDecision =
  | { readonly kind: 'request'; readonly reason: string }
  /** `until` undefined: until something changes. */
  | { readonly kind: 'wait'; readonly until: number | undefined; readonly reason: string };

export function decideRotation(snapshot: RotationSnapshot): RotationDecision {
  const { certificate, receivedAt, template, rotates, jitter, now } = snapshot;
  if (template === undefined) return { kind: 'wait', until: undefined, reason: 'the node has no addresses yet' };
  if (certificate === undefined) return { kind: 'request', reason: 'there is no certificate' };
  if (now >= certificate.notAfter) return { kind: 'request', reason: 'the certificate has expired' };
  if (!rotates) return { kind: 'wait', until: certificate.notAfter, reason: 'rotation is off' };
  const lacking = whatIsLacking(certificate, template);
  if (lacking !== undefined) return { kind: 'request', reason: lacking };
  const deadline = rotationDeadline(certificate, receivedAt, jitter);
  if (now >= deadline) return { kind: 'request', reason: 'the certificate is near its end' };
  return { kind: 'wait', until: deadline, reason: 'the certificate is good' };
}

/**
 * Between 70 and 90 % of its life. The controller manager dates certificates back by five minutes: from that date, one of two minutes would
 * be due as soon as it is there, and so would the next.
 */
export function rotationDeadline(
  { notBefore, notAfter }: CertificateFacts,
  receivedAt: number | undefined,
  jitter: number,
): number {
  const from = receivedAt !== undefined && receivedAt < notAfter ? Math.max(notBefore, receivedAt) : notBefore;
  return from + (notAfter - from) * (0.7 + 0.2 * jitter);
}

function whatIsLacking(certificate: CertificateFacts, template: CertificateTemplate): string | undefined {
  if (certificate.commonName !== template.commonName) return `the certificate is for ${certificate.commonName}`;
  const kinds = [
    ['organization', template.organizations, certificate.organizations],
    ['name', template.dnsNames, certificate.dnsNames],
    ['address', template.ips.map(canonicalIp), certificate.ips],
  ] as const;
  for (const [kind, wanted, has] of kinds) {
    const missing = wanted.find((one) => !has.includes(one));
    if (missing !== undefined) return `the certificate lacks the ${kind} ${missing}`;
  }
  return undefined;
}

const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 32_000;
/** Somebody said no: asking every half minute would only fill the list of requests. */
const DENIED_RETRY_MS = 600_000;

/** How long after a failure the next request is made. `failures` in a row, at least one. */
export function retryAfterMs(failures: number, wasDenied: boolean, random: number): number {
  const ms = wasDenied ? DENIED_RETRY_MS : Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
  return Math.round(ms * (1 + 0.1 * random));
}
