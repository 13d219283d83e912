import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, describeError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { type KeepableObject, SECRETS } from './kept-objects.ts';
import { createFakeKube } from './kube-testing.ts';
import { keyOf, type Referred } from './rules/gather.ts';
import { createWatchedObjects } from './watched-objects.ts';

const PATH = '/api/v1/namespaces/ns/secrets';
const IDLE_MS = 300_000;
const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

const object = (resourceVersion: string, more: Partial<KeepableObject> = {}): KeepableObject => ({
  metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion },
  ...more,
});

const referred = (names: Readonly<Record<string, boolean>>): ReadonlyMap<string, Referred> =>
  new Map(
    Object.entries(names).map(([name, byVolume]) => [
      keyOf('ns', name),
      { namespace: 'ns', name, byVolume, pods: new Set(['p']) },
    ]),
  );

function setUp(start = true) {
  const clock = createManualClock();
  const kube = createFakeKube();
  const notified: string[] = [];
  const notify = ({ namespace, name }: { namespace: string; name: string }) => notified.push(`${namespace}/${name}`);
  const objects = createWatchedObjects<KeepableObject>(
    { clock, supervisor: createTestSupervisor(clock), log: createSilentLogger(), kube, notify },
    { kind: SECRETS, idleMs: IDLE_MS },
  );
  const stopping = new AbortController();
  if (start) void objects.start(stopping.signal);
  const watch = (name = 'a') => kube.running(PATH, `metadata.name=${name}`).listener;
  return { clock, kube, notified, objects, watch, stopping };
}

test('watched objects: one watch for each that is referred to, and none beyond', () => {
  const { kube, objects } = setUp();
  objects.refer(referred({ a: false, b: true }));
  objects.refer(referred({ a: false, b: true }));
  assert.deepEqual(kube.runningPaths(), [`${PATH} metadata.name=a`, `${PATH} metadata.name=b`]);
  objects.refer(referred({ b: true }));
  assert.deepEqual(kube.runningPaths(), [`${PATH} metadata.name=b`]);
  assert.equal(kube.watches.length, 2);
});

test('watched objects: what was referred to before the start is watched from then on', async () => {
  const { kube, objects, stopping } = setUp(false);
  objects.refer(referred({ a: false }));
  assert.deepEqual(kube.runningPaths(), []);
  await objects.start(stopping.signal);
  assert.equal(kube.runningPaths().length, 1);
  stopping.abort('stop');
  await objects.stop?.();
  assert.deepEqual(kube.runningPaths(), []);
});

test('watched objects: the first answer is waited for, then they come from memory', async () => {
  const { objects, watch, notified } = setUp();
  objects.refer(referred({ a: false }));
  const early = objects.get('ns', 'a', never);
  await settled();
  watch().replaced([object('1')]);
  assert.deepEqual(await early, { kind: 'found', object: object('1') });
  watch().changed(object('2'));
  assert.deepEqual(await objects.get('ns', 'a', never), { kind: 'found', object: object('2') });
  watch().removed(object('3'));
  assert.deepEqual(await objects.get('ns', 'a', never), { kind: 'missing', message: 'secret "a" not found' });
  watch().changed(object('4'));
  assert.deepEqual(notified, ['ns/a', 'ns/a', 'ns/a']);
});

test('watched objects: a list without changes notifies no one', () => {
  const { objects, watch, notified } = setUp();
  objects.refer(referred({ a: false }));
  watch().replaced([object('1')]);
  watch().replaced([object('1')]);
  assert.deepEqual(notified, []);
  watch().replaced([]);
  assert.deepEqual(notified, ['ns/a']);
});

test('watched objects: no answer within a second; a late one is reported as a change', async () => {
  const { clock, objects, watch, notified } = setUp();
  objects.refer(referred({ a: false }));
  const answer = objects.get('ns', 'a', never).catch((error: unknown) => error);
  await settled();
  await clock.advance(1000);
  const error = await answer;
  assert.equal(codeOf(error), 'unavailable');
  assert.equal(describeError(error), 'failed to sync secret cache: timed out waiting for the condition');
  watch().replaced([object('1')]);
  assert.deepEqual(notified, ['ns/a']);
});

test('watched objects: who stops waiting hears why, and holds nothing', async () => {
  const { clock, objects } = setUp();
  objects.refer(referred({ a: false }));
  const sleepers = clock.sleepers();
  const leaving = new AbortController();
  const answer = objects.get('ns', 'a', leaving.signal);
  await settled();
  leaving.abort('pod gone');
  await assert.rejects(answer, (error) => error === 'pod gone');
  assert.equal(clock.sleepers(), sleepers);
});

test('watched objects: one that no one refers to is not requested', async () => {
  const { kube, objects } = setUp();
  await assert.rejects(objects.get('ns', 'a', never), { message: 'object "ns"/"a" not registered' });
  assert.equal(kube.watches.length, 0);
});

test('watched objects: an immutable one is not watched further, and stays', async () => {
  const { kube, objects, watch } = setUp();
  objects.refer(referred({ a: true }));
  watch().replaced([object('1', { immutable: true })]);
  assert.deepEqual(kube.runningPaths(), []);
  objects.refer(referred({ a: true }));
  const answer = await objects.get('ns', 'a', never);
  assert.equal(answer.kind, 'found');
  assert.equal(kube.watches.length, 1);
});

test('watched objects: one made immutable later', () => {
  const { kube, objects, watch, notified } = setUp();
  objects.refer(referred({ a: true }));
  watch().replaced([object('1')]);
  watch().changed(object('2', { immutable: true }));
  assert.deepEqual(kube.runningPaths(), []);
  assert.deepEqual(notified, ['ns/a']);
});

test('watched objects: what only variables need is let go when idle, and comes back fresh', async () => {
  const { clock, kube, objects, watch } = setUp();
  objects.refer(referred({ a: false, b: true, c: false }));
  watch('a').replaced([object('1')]);
  watch('b').replaced([]);
  await objects.get('ns', 'a', never);
  await clock.advance(IDLE_MS);
  assert.equal(kube.runningPaths().length, 3);
  await clock.advance(60_000);
  assert.deepEqual(
    kube.runningPaths(),
    [`${PATH} metadata.name=b`, `${PATH} metadata.name=c`],
    'shown by a volume, and never answered',
  );
  const again = objects.get('ns', 'a', never);
  await settled();
  watch('a').replaced([object('7')]);
  assert.deepEqual(await again, { kind: 'found', object: object('7') });
});

test('watched objects: words of a watch that was ended count no more', async () => {
  const { kube, objects, notified } = setUp();
  objects.refer(referred({ a: false }));
  const old = kube.running(PATH, 'metadata.name=a').listener;
  old.replaced([object('1')]);
  objects.refer(new Map());
  objects.refer(referred({ a: false }));
  old.changed(object('2'));
  kube.running(PATH, 'metadata.name=a').listener.replaced([object('3')]);
  assert.deepEqual(await objects.get('ns', 'a', never), { kind: 'found', object: object('3') });
  assert.deepEqual(notified, []);
});

test('watched objects: a bad reference asks for nothing else, and keeps no other from being watched', async () => {
  const { kube, objects } = setUp();
  const one = (namespace: string, name: string): [string, Referred] => [
    keyOf(namespace, name),
    { namespace, name, byVolume: true, pods: new Set(['p']) },
  ];
  objects.refer(new Map([one('../nodes', 'a'), one('ns', 'a,metadata.namespace=x'), one('ns', 'b')]));
  assert.deepEqual(kube.runningPaths(), [
    `${PATH} ${String.raw`metadata.name=a\,metadata.namespace\=x`}`,
    `${PATH} metadata.name=b`,
  ]);
  await assert.rejects(objects.get('../nodes', 'a', never), (error) => codeOf(error) === 'invalid');
});
