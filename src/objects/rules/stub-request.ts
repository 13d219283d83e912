/**
 * A PKCS #10 request without a name: it only carries a public key and proves that its sender has the private one. The signer
 * takes names and times from elsewhere.
 */
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
  return node(SEQUENCE, hex('020100'), hex('3000'), publicKey, hex('a000'));
}

export function signedRequest(info: Uint8Array, type: KeyType, signature: Uint8Array): Uint8Array {
  return node(SEQUENCE, info, SIGNATURES[type].algorithm, node(BIT_STRING, hex('00'), signature));
}

const SEQUENCE = 0x30;
const BIT_STRING = 0x03;

function node(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return join([Uint8Array.of(tag, ...lengthBytes(length)), ...parts]);
}

function lengthBytes(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 + bytes.length, ...bytes];
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
