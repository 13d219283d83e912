/**
 * A PKCS #10 request without a name: it only carries a public key and proves that its sender has the private one. The signer
 * takes names and times from elsewhere.
 */
import { bits, explicit, integer, sequence } from '../../base/der.ts';

export type KeyType = 'RSA3072' | 'RSA4096' | 'ECDSAP256' | 'ECDSAP384' | 'ECDSAP521' | 'ED25519';

/** The hash under the signature, and the signature algorithm (DER of the AlgorithmIdentifier). */
export const SIGNATURES: Readonly<
  Record<KeyType, { readonly hash: string | undefined; readonly algorithm: Uint8Array }>
> = {
  RSA3072: { hash: 'sha256', algorithm: hex('300d06092a864886f70d01010b0500') },
  RSA4096: { hash: 'sha256', algorithm: hex('300d06092a864886f70d01010b0500') },
  ECDSAP256: { hash: 'sha256', algorithm: hex('300a06082a8648ce3d040302') },
  ECDSAP384: { hash: 'sha384', algorithm: hex('300a06082a8648ce3d040303') },
  ECDSAP521: { hash: 'sha512', algorithm: hex('300a06082a8648ce3d040304') },
  ED25519: { hash: undefined, algorithm: hex('300506032b6570') },
};

export function isKeyType(text: string): text is KeyType {
  return Object.hasOwn(SIGNATURES, text);
}

/** What is signed: version 0, no name, the public key (DER), no attributes. */
export function requestInfo(publicKey: Uint8Array): Uint8Array {
  return sequence(integer(Uint8Array.of(0)), sequence(), publicKey, explicit(0, new Uint8Array(0)));
}

export function signedRequest(info: Uint8Array, type: KeyType, signature: Uint8Array): Uint8Array {
  return sequence(info, SIGNATURES[type].algorithm, bits(signature));
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
