/** Objects in the forms in which requests, images and the kubelet itself ask for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { objectsForImages } from './for-images.ts';
import { objectsForRequests, type RequestedObjects } from './for-requests.ts';
import { ownNodeFacts } from './settings.ts';

const { signal } = new AbortController();
const metadata = { name: 's', namespace: 'n', uid: 'u', resourceVersion: '1' };
const secret = { kind: 'found', object: { metadata, type: 't', data: { key: 'dmFsdWU=' } } } as const;
const away = () => Promise.reject(new CodedError('unavailable', 'the API server is away'));

const objects: RequestedObjects = {
  services: () => undefined,
  awaitServices: () => Promise.resolve([]),
  configMap: away,
  secret: () => Promise.resolve(secret),
  runtimeHandler: () => Promise.resolve({ ok: true, value: 'runc' }),
};

test('requests get data, and a failure as a value; only an abort is thrown', async () => {
  const port = objectsForRequests(objects);
  const found = await port.secret('n', 's', signal);
  assert.equal(found.kind === 'found' && Buffer.from(found.data.get('key') as Uint8Array).toString(), 'value');
  assert.deepEqual(await port.configMap('n', 'c', signal), { kind: 'failed', message: 'the API server is away' });
  await assert.rejects(port.configMap('n', 'c', AbortSignal.abort(new Error('the pod must go'))), /the pod must go/);
  assert.equal(await port.services(false, signal), undefined);
  assert.deepEqual(await port.services(true, signal), []);
});

test('without an API server every object is missing by its name', async () => {
  const port = objectsForRequests(undefined);
  assert.deepEqual(await port.secret('n', 's', signal), { kind: 'missing', message: 'secret "s" not found' });
  assert.deepEqual(await port.runtimeHandler('kata', signal), { ok: false, problem: 'RuntimeClass "kata" not found' });
});

test('a pull secret that can not be read counts as missing; a service account that is missing is an error', async () => {
  const missing = () => Promise.resolve({ kind: 'missing', message: 'serviceaccount "a" not found' } as const);
  const base = { token: away, serviceAccount: missing };
  const read = objectsForImages({ ...base, secret: () => Promise.resolve(secret) }, createSilentLogger());
  const pull = await read.secret('n', 's', signal);
  assert.deepEqual([pull?.uid, pull?.type], ['u', 't']);
  const failing = objectsForImages({ ...base, secret: away }, createSilentLogger());
  assert.equal(await failing.secret('n', 's', signal), undefined);
  await assert.rejects(read.serviceAccount('n', 'a', signal), /serviceaccount "a" not found/);
});

test('the UID of the node is known from its object, or requested; a TTL that is no number is ignored', async () => {
  let node: { metadata: { uid: string; annotations: Record<string, string> } } | undefined;
  const client = { request: <T>() => Promise.resolve({ metadata: { uid: 'requested' } } as T) };
  const facts = ownNodeFacts(client, 'node', () => node);
  assert.equal(await facts.nodeUid(signal), 'requested');
  assert.equal(facts.nodeTtlSeconds(), undefined);
  const annotations: Record<string, string> = { 'node.alpha.kubernetes.io/ttl': '15' };
  node = { metadata: { uid: 'known', annotations } };
  assert.equal(await facts.nodeUid(signal), 'known');
  assert.equal(facts.nodeTtlSeconds(), 15);
  annotations['node.alpha.kubernetes.io/ttl'] = 'soon';
  assert.equal(facts.nodeTtlSeconds(), undefined);
});
