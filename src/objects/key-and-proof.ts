/** A new key pair of the requested type, and the request that proves possession of it. */
import { generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { CodedError } from '../base/errors.ts';
import { isKeyType, type KeyType, requestInfo, SIGNATURES, signedRequest } from './rules/stub-request.ts';

export interface KeyAndProof {
  /** PEM, PKCS #8. */
  readonly privateKey: string;
  /** PKCS #10, DER in base64. */
  readonly request: string;
}

export async function makeKeyAndProof(keyType: string): Promise<KeyAndProof> {
  if (!isKeyType(keyType)) {
    const allowed = Object.keys(SIGNATURES).join(', ');
    throw new CodedError('invalid', `unknown key type ${JSON.stringify(keyType)}: must be one of ${allowed}`);
  }
  const { publicKey, privateKey } = await makePair(keyType);
  const info = requestInfo(publicKey.export({ type: 'spki', format: 'der' }));
  const signature = await signWith(privateKey, SIGNATURES[keyType].hash, info);
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    request: Buffer.from(signedRequest(info, keyType, signature)).toString('base64'),
  };
}

const CURVES = { ECDSAP256: 'P-256', ECDSAP384: 'P-384', ECDSAP521: 'P-521' } as const;
const generate = promisify(generateKeyPair);

function makePair(keyType: KeyType): Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> {
  switch (keyType) {
    case 'RSA3072':
      return generate('rsa', { modulusLength: 3072 });
    case 'RSA4096':
      return generate('rsa', { modulusLength: 4096 });
    case 'ED25519':
      return generate('ed25519');
    default:
      return generate('ec', { namedCurve: CURVES[keyType] });
  }
}

/** Not on the main thread, because a large RSA key takes long. */
function signWith(key: KeyObject, hash: string | undefined, data: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    sign(hash, data, key, (error, signature) => (error === null ? resolve(signature) : reject(error)));
  });
}
