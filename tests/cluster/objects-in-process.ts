/** Objects inside the test process, as this node: what a test must see from within, or move the clock for. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../../src/base/errors.ts';
import { never, stays } from '../node/pod-support.ts';
import { CONFIG_MAPS, type ObjectWorld, objectsAsNode, SECRETS, shiftedClock } from './objects-support.ts';
import { eventually, isReady } from './pods-support.ts';

export async function changes(world: ObjectWorld, t: TestContext): Promise<void> {
  const { admin } = world.cluster;
  await admin.create(CONFIG_MAPS, { metadata: { name: 'moving' }, data: { k: '1' } });
  const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'moving', key: 'k' } } }];
  const pod = await world.create('moving', { containers: [stays('main', { env })] });
  await world.ready('moving');
  const objects = await objectsAsNode(t, world.cluster);
  const told: { readonly name: string; readonly at: number }[] = [];
  objects.subscribe('test', ({ name }) => told.push({ name, at: performance.now() }));
  objects.setPods([pod]);
  const first = await objects.configMap('default', 'moving', never);
  assert.equal(first.kind === 'found' && first.object.data?.['k'], '1');
  const asked = performance.now();
  const patch = { body: { data: { k: '2' } }, contentType: 'application/merge-patch+json' } as const;
  await admin.request(`${CONFIG_MAPS}/moving`, { method: 'PATCH', ...patch });
  await eventually('the change is told', () => told.length > 0);
  assert.ok((told[0]?.at ?? 0) - asked < 45_000, 'before the next regular look');
  const second = await objects.configMap('default', 'moving', never);
  assert.equal(second.kind === 'found' && second.object.data?.['k'], '2');
  await admin.request(`${CONFIG_MAPS}/moving`, { method: 'DELETE' });
  await eventually('the end is told', () => told.length > 1);
  assert.deepEqual(await objects.configMap('default', 'moving', never), {
    kind: 'missing',
    message: 'configmap "moving" not found',
  });

  // A pod that is not on this node: the API server does not let us see its secret, and we say so.
  await admin.create(SECRETS, { metadata: { name: 'foreign' }, stringData: { k: 'v' } });
  const foreign = { ...pod, spec: { ...pod.spec, imagePullSecrets: [{ name: 'foreign' }] } };
  objects.setPods([foreign]);
  await assert.rejects(objects.secret('default', 'foreign', never), /failed to sync secret cache/);
  const account = await objects.serviceAccount('default', 'default', never);
  assert.equal(account.kind, 'found');
  await world.delete('moving');
}

export async function fetched(world: ObjectWorld, t: TestContext, strategy: 'Cache' | 'Get'): Promise<void> {
  const { admin } = world.cluster;
  const name = `fetched-${strategy.toLowerCase()}`;
  await admin.create(SECRETS, { metadata: { name }, stringData: { k: '1' } });
  const env = [
    { name: 'A', valueFrom: { secretKeyRef: { name, key: 'k' } } },
    { name: 'B', valueFrom: { secretKeyRef: { name: 'absent', key: 'k', optional: true } } },
  ];
  const pod = await world.create(name, { containers: [stays('main', { env })] });
  await world.ready(name);
  const clock = shiftedClock();
  const objects = await objectsAsNode(t, world.cluster, { strategy, clock });
  objects.setPods([pod]);
  const value = async () => {
    const found = await objects.secret('default', name, never);
    return found.kind === 'found' ? Buffer.from(found.object.data?.['k'] ?? '', 'base64').toString() : found.message;
  };
  assert.equal(await value(), '1');
  const patch = { body: { stringData: { k: '2' } }, contentType: 'application/merge-patch+json' } as const;
  await admin.request(`${SECRETS}/${name}`, { method: 'PATCH', ...patch });
  assert.equal(await value(), strategy === 'Cache' ? '1' : '2');
  clock.forward(60_000);
  assert.equal(await value(), '2');
  assert.deepEqual(await objects.secret('default', 'absent', never), {
    kind: 'missing',
    message: 'secrets "absent" not found',
  });
  await world.delete(name);
}

export async function tokens(world: ObjectWorld, t: TestContext): Promise<void> {
  const { admin } = world.cluster;
  const pod = await world.create('holder', { automountServiceAccountToken: true });
  await world.ready('holder');
  const clock = shiftedClock();
  const objects = await objectsAsNode(t, world.cluster, { clock });
  objects.setPods([pod]);
  const asked = { pod: pod.metadata, serviceAccountName: 'default', audiences: [], expirationSeconds: 600 };
  const first = await objects.token(asked, never);
  assert.equal((await objects.token(asked, never)).token, first.token);
  assert.ok(Math.abs(first.expiresAt - clock.now() - 600_000) < 60_000);
  const claims = JSON.parse(Buffer.from(first.token.split('.')[1] ?? '', 'base64url').toString()) as {
    readonly 'kubernetes.io'?: { readonly pod?: unknown; readonly node?: { readonly name?: string } };
  };
  assert.deepEqual(claims['kubernetes.io']?.pod, { name: 'holder', uid: pod.metadata.uid });
  assert.equal(claims['kubernetes.io']?.node?.name, 'node-1');
  const review = await admin.create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: first.token } });
  assert.equal((review.status as { readonly authenticated?: boolean }).authenticated, true);
  // The time of issue has whole seconds: a new one within the same second would look the same.
  await delay(1100);
  clock.forward(first.refreshAt - clock.now());
  const second = await objects.token(asked, never);
  assert.notEqual(second.token, first.token);

  await assert.rejects(
    objects.token({ ...asked, pod: { ...asked.pod, uid: 'another' } }, never),
    (error) => ['denied', 'conflict', 'notFound', 'invalid'].includes(codeOf(error)),
    'a token for a pod that is not here',
  );
  const running = await world.get('holder');
  assert.ok(isReady(running));
  await world.delete('holder');
}
