/** The parts of X.509 that certificates and requests for certificates have in common (RFC 5280). */
import { implicit, objectId, sequence, set, text } from '../base/der.ts';
import { parseIpAddress } from './ip-address.ts';

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
export const ALTERNATIVE_NAMES = '2.5.29.17';

/** Organizations first, as the reference writes them. */
export function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (id: string, value: string) => set(sequence(objectId(id), text(value)));
  return sequence(
    ...organizations.map((organization) => attribute(ORGANIZATION, organization)),
    attribute(COMMON_NAME, commonName),
  );
}

/** DNS names and addresses, in their order. */
export function alternativeNames(names: readonly string[]): Buffer {
  return sequence(...names.map(alternativeName));
}

function alternativeName(name: string): Buffer {
  const address = parseIpAddress(name);
  return address === undefined ? implicit(2, Buffer.from(name, 'ascii')) : implicit(7, Uint8Array.from(address.bytes));
}

/** `label`: such as `CERTIFICATE`. */
export function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
