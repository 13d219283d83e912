import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createFetchedObjects } from './fetched-objects.ts';
import { CONFIG_MAPS, type KeepableObject } from './kept-objects.ts';
import { createFakeKube } from './kube-testing.ts';
import { keyOf, type Referred } from './rules/gather.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const TTL_MS = 60_000;
const SYNC_MS = 60_000;

const object = (resourceVersion: string, more: Partial<KeepableObject> = {}): KeepableObject => ({
  metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion },
  ...more,
});
const absent = () => new CodedError('notFound', 'configmaps "a" not found');
const away = () => new CodedError('unavailable', 'connection refused');

const referred = (byVolume: boolean, ...pods: readonly string[]): ReadonlyMap<string, Referred> =>
  new Map([[keyOf('ns', 'a'), { namespace: 'ns', name: 'a', byVolume, pods: new Set(pods) }]]);

function setUp(ttlMs: () => number, ahead: boolean) {
  const clock = createManualClock();
  const server: { answer: unknown } = { answer: object('1') };
  const kube = createFakeKube(() => server.answer);
  const notified: string[] = [];
  const objects = createFetchedObjects<KeepableObject>(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log: createSilentLogger(),
      client: kube.general,
      notify: ({ name }) => notified.push(name),
      ttlMs,
    },
    { kind: CONFIG_MAPS, lookAgainMs: SYNC_MS, ahead },
  );
  const stopping = new AbortController();
  void objects.start(stopping.signal);
  return { clock, server, kube, notified, objects, stopping };
}

test('cached objects: fetched ahead once, then kept for their time', async () => {
  const { clock, kube, objects, server } = setUp(() => TTL_MS, true);
  objects.refer(referred(false, 'p1'));
  await settled();
  assert.deepEqual(
    kube.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /api/v1/namespaces/ns/configmaps/a'],
  );
  server.answer = object('2');
  assert.deepEqual(await objects.get('ns', 'a', never), { kind: 'found', object: object('1') });
  await clock.advance(TTL_MS);
  assert.deepEqual(await objects.get('ns', 'a', never), { kind: 'found', object: object('2') });
  assert.equal(kube.requests.length, 2);
});

test('cached objects: a new pod does not start with something old', async () => {
  const { kube, objects, server } = setUp(() => TTL_MS, true);
  objects.refer(referred(false, 'p1'));
  await settled();
  server.answer = object('2');
  objects.refer(referred(false, 'p1', 'p2'));
  assert.deepEqual(await objects.get('ns', 'a', never), { kind: 'found', object: object('2') });
  objects.refer(referred(false, 'p2'));
  await objects.get('ns', 'a', never);
  assert.equal(kube.requests.length, 2);
});

test('cached objects: what is missing is requested each time, with the message of the server', async () => {
  const { kube, objects, server } = setUp(() => TTL_MS, false);
  server.answer = absent();
  objects.refer(referred(false, 'p1'));
  assert.deepEqual(await objects.get('ns', 'a', never), { kind: 'missing', message: 'configmaps "a" not found' });
  server.answer = object('1');
  assert.equal((await objects.get('ns', 'a', never)).kind, 'found');
  assert.equal(kube.requests.length, 2);
});

test('cached objects: an old answer stands in for a server that is away, the very first can not', async () => {
  const { clock, objects, server } = setUp(() => TTL_MS, false);
  objects.refer(referred(false, 'p1'));
  server.answer = away();
  await assert.rejects(objects.get('ns', 'a', never), { message: 'connection refused' });
  server.answer = object('1');
  await objects.get('ns', 'a', never);
  server.answer = away();
  await clock.advance(2 * TTL_MS);
  assert.deepEqual(await objects.get('ns', 'a', never), { kind: 'found', object: object('1') });
});

test('cached objects: an older version than the known one is not believed', async () => {
  const { clock, objects, server } = setUp(() => TTL_MS, false);
  objects.refer(referred(false, 'p1'));
  server.answer = object('9');
  await objects.get('ns', 'a', never);
  await clock.advance(TTL_MS);
  server.answer = object('8');
  assert.deepEqual(await objects.get('ns', 'a', never), { kind: 'found', object: object('9') });
});

test('fetched objects: requested every time, by many at once only once', async () => {
  const { kube, objects, server } = setUp(() => 0, false);
  objects.refer(referred(false, 'p1'));
  await Promise.all([objects.get('ns', 'a', never), objects.get('ns', 'a', never)]);
  assert.equal(kube.requests.length, 1);
  await objects.get('ns', 'a', never);
  assert.equal(kube.requests.length, 2);
  server.answer = away();
  await assert.rejects(objects.get('ns', 'a', never));
});

test('fetched objects: what volumes show is read again, and a change is reported', async () => {
  const { clock, kube, objects, server, notified, stopping } = setUp(() => 0, false);
  objects.refer(referred(true, 'p1'));
  await objects.get('ns', 'a', never);
  await clock.advance(SYNC_MS);
  assert.equal(kube.requests.length, 2);
  assert.deepEqual(notified, []);
  server.answer = object('2');
  await clock.advance(SYNC_MS);
  assert.deepEqual(notified, ['a']);
  server.answer = object('3', { immutable: true });
  await clock.advance(SYNC_MS);
  await clock.advance(5 * SYNC_MS);
  assert.equal(kube.requests.length, 4, 'immutable: no longer');
  stopping.abort('stop');
  await objects.stop?.();
});

test('fetched objects: variables alone are not looked at again', async () => {
  const { clock, kube, objects } = setUp(() => 0, false);
  objects.refer(referred(false, 'p1'));
  await objects.get('ns', 'a', never);
  await clock.advance(10 * SYNC_MS);
  assert.equal(kube.requests.length, 1);
});

test('fetched objects: one that no one refers to is not requested', async () => {
  const { kube, objects } = setUp(() => 0, false);
  await assert.rejects(objects.get('ns', 'a', never), { message: 'object "ns"/"a" not registered' });
  assert.equal(kube.requests.length, 0);
});

test('fetched objects: a name that leads elsewhere is never requested', async () => {
  const { kube, objects } = setUp(() => 0, false);
  const names = ['../secrets/x', '..', 'a%2f..%2fsecrets', 'a?watch=1#b'];
  const one = (name: string): Referred => ({ namespace: 'ns', name, byVolume: true, pods: new Set(['p']) });
  objects.refer(new Map(names.map((name) => [keyOf('ns', name), one(name)])));
  for (const name of names.slice(0, 3)) await assert.rejects(objects.get('ns', name, never), /invalid resource name/);
  await objects.get('ns', 'a?watch=1#b', never);
  assert.deepEqual(
    kube.requests.map(({ path }) => path),
    ['/api/v1/namespaces/ns/configmaps/a%3Fwatch%3D1%23b'],
  );
});
