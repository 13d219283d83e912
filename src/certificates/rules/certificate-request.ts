/** The part of a PKCS #10 request (RFC 2986) that is signed, and what it asks for. */
import { parseIpAddress } from '../../api/ip-address.ts';
import { explicit, implicit, integer, objectId, octets, sequence, set, text } from '../../base/der.ts';

/** What a certificate must be good for. A certificate that says less is replaced. */
export interface CertificateTemplate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  /** Textual addresses. */
  readonly ips: readonly string[];
}

const OBJECTS = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  alternativeNames: '2.5.29.17',
  extensionRequest: '1.2.840.113549.1.9.14',
} as const;

/** `publicKey`: the SubjectPublicKeyInfo, DER. */
export function requestInfo(template: CertificateTemplate, publicKey: Uint8Array): Uint8Array {
  return sequence(integer(Uint8Array.of(0)), subject(template), publicKey, explicit(0, attributes(template)));
}

function subject({ commonName, organizations }: CertificateTemplate): Uint8Array {
  const attribute = (id: string, value: string) => set(sequence(objectId(id), text(value)));
  return sequence(
    ...organizations.map((organization) => attribute(OBJECTS.organization, organization)),
    attribute(OBJECTS.commonName, commonName),
  );
}

function attributes({ dnsNames, ips }: CertificateTemplate): Uint8Array {
  const names = [
    ...dnsNames.map((name) =>
      implicit(
        2,
        Uint8Array.from(name, (letter) => letter.charCodeAt(0) & 0x7f),
      ),
    ),
    ...ips.map((ip) => implicit(7, Uint8Array.from(parseIpAddress(ip)?.bytes ?? []))),
  ];
  if (names.length === 0) return new Uint8Array(0);
  const extension = sequence(objectId(OBJECTS.alternativeNames), octets(sequence(...names)));
  return sequence(objectId(OBJECTS.extensionRequest), set(sequence(extension)));
}
