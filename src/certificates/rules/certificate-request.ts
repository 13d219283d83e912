/** The part of a PKCS #10 request (RFC 2986) that is signed, and what it asks for. */
import { ALTERNATIVE_NAMES, alternativeNames, distinguishedName } from '../../api/x509.ts';
import { explicit, integer, objectId, octets, sequence, set } from '../../base/der.ts';

/** What a certificate must be good for. A certificate that says less is replaced. */
export interface CertificateTemplate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** Textual addresses. */
  readonly ips: readonly string[];
}

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

/** `publicKey`: the SubjectPublicKeyInfo, DER. */
export function requestInfo(template: CertificateTemplate, publicKey: Uint8Array): Uint8Array {
  const { commonName, organizations } = template;
  const subject = distinguishedName(commonName, organizations);
  return sequence(integer(Uint8Array.of(0)), subject, publicKey, explicit(0, attributes(template)));
}

function attributes({ dnsNames, ips }: CertificateTemplate): Uint8Array {
  const names = [...dnsNames, ...ips];
  if (names.length === 0) return new Uint8Array(0);
  const extension = sequence(objectId(ALTERNATIVE_NAMES), octets(alternativeNames(names)));
  return sequence(objectId(EXTENSION_REQUEST), set(sequence(extension)));
}
