import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { codeOf } from '../base/errors.ts';
import { makeKeyAndProof } from './key-and-proof.ts';

/** OpenSSL reads the request; with `-verify` it says what it thinks of the signature, and exits with 0 all the same. */
function openssl(request: string, ...what: readonly string[]): { readonly text: string; readonly verdict: string } {
  const run = spawnSync('openssl', ['req', '-inform', 'DER', ...what], { input: Buffer.from(request, 'base64') });
  return { text: run.stdout.toString(), verdict: run.stderr.toString() };
}

for (const [keyType, algorithm] of [
  ['RSA3072', 'sha256WithRSAEncryption'],
  ['RSA4096', 'sha256WithRSAEncryption'],
  ['ECDSAP256', 'ecdsa-with-SHA256'],
  ['ECDSAP384', 'ecdsa-with-SHA384'],
  ['ECDSAP521', 'ecdsa-with-SHA512'],
  ['ED25519', 'ED25519'],
] as const) {
  test(`a key and its proof: ${keyType}`, async () => {
    const { privateKey, request } = await makeKeyAndProof(keyType);
    const { text, verdict } = openssl(request, '-text', '-noout', '-verify');
    assert.match(verdict, /verify OK/);
    assert.ok(text.includes(`Signature Algorithm: ${algorithm}`), text);
    const own = createPublicKey(createPrivateKey(privateKey)).export({ type: 'spki', format: 'pem' });
    assert.equal(openssl(request, '-pubkey', '-noout').text, own);
    assert.match(privateKey, /^-----BEGIN PRIVATE KEY-----\n/);
  });
}

test('a broken proof is seen by OpenSSL', async () => {
  const { request } = await makeKeyAndProof('ECDSAP256');
  const bytes = Buffer.from(request, 'base64');
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  assert.match(openssl(bytes.toString('base64'), '-noout', '-verify').verdict, /verify failure/);
});

for (const keyType of ['', 'RSA2048', 'toString']) {
  test(`no such type of key: ${JSON.stringify(keyType)}`, () =>
    assert.rejects(makeKeyAndProof(keyType), (error) => codeOf(error) === 'invalid'));
}
