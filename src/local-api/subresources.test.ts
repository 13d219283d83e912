import assert from 'node:assert/strict';
import { createPublicKey, type JsonWebKeyInput, verify } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSigningKey } from './signing-key.ts';
import { createTestApi } from './testing.ts';

const PODS = '/api/v1/namespaces/default/pods';
const MAPS = '/api/v1/namespaces/default/configmaps';

const podOf = (resources: object, more: object = {}) => ({
  metadata: { name: 'a' },
  spec: { containers: [{ name: 'main', image: 'i', resources }], ...more },
});
const resize = (resources: object) => ({ spec: { containers: [{ name: 'main', resources }] } });

test('resize: cpu and memory change, everything else stays, and the generation counts it', async () => {
  const { ask } = await createTestApi();
  await ask(`POST ${PODS}`, podOf({ requests: { cpu: '100m', memory: '64Mi' } }));
  const patch = { spec: { ...resize({ requests: { cpu: '200m' } }).spec, hostNetwork: true } };
  const { status, body } = await ask(`PATCH ${PODS}/a/resize strategic`, patch);
  assert.equal(status, 200);
  assert.deepEqual(body.spec.containers[0].resources.requests, { cpu: '200m', memory: '64Mi' });
  assert.equal(body.spec.hostNetwork, undefined, 'what is no resource is left out');
  assert.equal(body.metadata.generation, 2);
  const plain = await ask(`PATCH ${PODS}/a strategic`, resize({ requests: { cpu: '300m' } }));
  assert.equal(plain.status, 422, 'only by its own path');
});

test('resize: what may not change is refused', async () => {
  const { ask } = await createTestApi();
  await ask(`POST ${PODS}`, podOf({ requests: { cpu: '100m' }, limits: { cpu: '200m', 'example.com/gpu': '1' } }));
  const cases: readonly (readonly [object, RegExp])[] = [
    [resize({ limits: { cpu: null } }), /resource limits cannot be removed/],
    [resize({ limits: { 'example.com/gpu': '2' }, requests: { 'example.com/gpu': '2' } }), /only cpu and memory/],
    [resize({ requests: { cpu: '300m' } }), /must be less than or equal to cpu limit/],
  ];
  for (const [patch, expected] of cases) {
    const { status, body } = await ask(`PATCH ${PODS}/a/resize strategic`, patch);
    assert.equal(status, 422);
    assert.match(body.message, expected);
  }
  await ask(`DELETE ${PODS}/a?gracePeriodSeconds=0`);
  await ask(`POST ${PODS}`, { ...podOf({}), metadata: { name: 'b' } });
  const { body } = await ask(`PATCH ${PODS}/b/resize strategic`, resize({ requests: { cpu: '1' } }));
  assert.match(body.message, /Pod QOS Class may not change as a result of resizing/);
});

test('lists come in pages of one version, and every object is on one of them', async () => {
  const { ask } = await createTestApi();
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await ask(`POST ${MAPS}`, { metadata: { name } });
  const seen: string[] = [];
  const versions = new Set<string>();
  let next = '';
  for (let page = 0; page < 3; page++) {
    const { status, body } = await ask(`GET ${MAPS}?limit=2&continue=${encodeURIComponent(next)}`);
    assert.equal(status, 200);
    seen.push(...body.items.map((one: { metadata: { name: string } }) => one.metadata.name));
    versions.add(body.metadata.resourceVersion);
    if (page === 0) assert.equal(body.metadata.remainingItemCount, 3);
    next = body.metadata.continue ?? '';
    // What comes in between does not move the pages.
    if (page === 0) await ask(`POST ${MAPS}`, { metadata: { name: 'aa' } });
  }
  assert.deepEqual([seen, next, versions.size], [names, '', 1]);
  for (const query of ['continue=x', 'continue=e30=', 'limit=-1', 'limit=x', `continue=${'A'.repeat(2000)}`])
    assert.equal((await ask(`GET ${MAPS}?${query}`)).status, 400, query);
});

test('tokens are for service accounts that exist, for as long as was asked for, and name their pod', async () => {
  const { ask } = await createTestApi();
  const path = '/api/v1/namespaces/default/serviceaccounts/default/token';
  await ask(`POST ${PODS}`, podOf({}));
  const pod = (await ask(`GET ${PODS}/a`)).body;
  const bound = { kind: 'Pod', apiVersion: 'v1', name: 'a', uid: pod.metadata.uid };
  const { status, body } = await ask(`POST ${path}`, {
    spec: { audiences: ['vault'], expirationSeconds: 1000, boundObjectRef: bound },
  });
  assert.equal(status, 201);
  const claims = JSON.parse(body.status.token);
  assert.deepEqual([claims.aud, claims.sub], [['vault'], 'system:serviceaccount:default:default']);
  assert.deepEqual(claims['kubernetes.io'].pod, { name: 'a', uid: pod.metadata.uid });
  assert.equal(claims.exp - claims.iat, 1000);
  assert.equal((await ask(`POST ${path}`, { spec: { expirationSeconds: 60 } })).status, 422);
  assert.equal((await ask(`POST ${path}`, { spec: { boundObjectRef: { ...bound, uid: 'other' } } })).status, 409);
  assert.equal((await ask(`POST ${path}`, { spec: { boundObjectRef: { ...bound, name: 'none' } } })).status, 404);
  assert.equal((await ask(`POST ${path.replace('/default/token', '/none/token')}`, {})).status, 404);
  assert.equal((await ask(`GET ${path}`)).status, 405);
  const reader = { name: 'r', groups: [], role: 'read-only' } as const;
  assert.equal((await ask(`POST ${path}`, {}, { caller: reader })).status, 403);
});

test('the key of tokens is kept for root only, and its public half checks what it signed', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'local-api-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'deep', 'service-account.key');
  const token = await createSigningKey({ file }).sign({ sub: 'x' });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const [key] = (await createSigningKey({ file }).publicKeys()).keys;
  const [head = '', claims = '', signature = ''] = token.split('.');
  const publicKey = createPublicKey({ key, format: 'jwk' } as unknown as JsonWebKeyInput);
  const isRight = (text: string) =>
    verify(
      'sha256',
      Buffer.from(text),
      { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
  assert.equal(isRight(`${head}.${claims}`), true);
  assert.equal(isRight(`${head}.${claims}x`), false);
});

test('reviews of the caller itself are answered under the paths of their group', async () => {
  const { ask } = await createTestApi();
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const review = (verb: string) => ({ spec: { resourceAttributes: { verb, resource: 'pods' } } });
  const reader = { name: 'r', groups: [], role: 'read-only' } as const;
  assert.equal((await ask(`POST ${path}`, review('delete'))).body.status.allowed, true);
  assert.equal((await ask(`POST ${path}`, review('delete'), { caller: reader })).body.status.allowed, false);
  assert.equal((await ask(`POST ${path}`, review('list'), { caller: reader })).body.status.allowed, true);
});
