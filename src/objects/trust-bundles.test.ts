import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '../api/referenced-objects.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createFakeKube } from './kube-testing.ts';
import { pemBlocks } from './rules/pem.ts';
import { createTrustBundles } from './trust-bundles.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));
const GROUP = '/apis/certificates.k8s.io';

const pem = (...contents: readonly string[]) =>
  contents.map((content) => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----\n`).join('between\n');

const bundle = (
  name: string,
  trustBundle: string,
  more: { signerName?: string; labels?: Record<string, string> } = {},
): ClusterTrustBundle => ({
  metadata: { name, uid: name, resourceVersion: '1', ...(more.labels ? { labels: more.labels } : {}) },
  spec: { trustBundle, ...(more.signerName === undefined ? {} : { signerName: more.signerName }) },
});

function setUp(offered: readonly string[], salt = 's') {
  const clock = createManualClock();
  const kube = createFakeKube(({ path }) =>
    offered.includes(path)
      ? { resources: [{ name: 'clustertrustbundles' }, { name: 'other' }] }
      : new CodedError('notFound', 'no such group'),
  );
  const notified: string[] = [];
  const bundles = createTrustBundles({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    kube,
    notify: (name) => notified.push(name),
    salt,
  });
  bundles.start(never);
  return { clock, kube, notified, bundles };
}

const list = [
  bundle('plain', pem('QUFB', 'QkJC')),
  bundle('one', pem('QUFB', 'Q0ND'), { signerName: 'example.com/a', labels: { env: 'test' } }),
  bundle('two', pem('Q0ND', 'RERE'), { signerName: 'example.com/a', labels: { env: 'live' } }),
  bundle('three', pem('RUVF'), { signerName: 'example.com/b', labels: { env: 'live' } }),
];

async function listed(salt?: string) {
  const made = setUp([`${GROUP}/v1beta1`], salt);
  const first = made.bundles.get({ name: 'plain' }, never);
  await settled();
  made.kube.running(`${GROUP}/v1beta1/clustertrustbundles`).listener.replaced(list);
  await first;
  return made;
}

for (const [offered, expected] of [
  [['v1beta1', 'v1alpha1'], 'v1beta1'],
  [['v1alpha1'], 'v1alpha1'],
] as const) {
  test(`trust bundles: of ${offered.join(' and ')}, ${expected} is watched, from the first request on`, async () => {
    const { kube, bundles } = setUp(offered.map((version) => `${GROUP}/${version}`));
    assert.deepEqual(kube.requests, []);
    const requests = [bundles.get({ name: 'plain' }, never), bundles.get({ name: 'one' }, never)];
    await settled();
    kube.running(`${GROUP}/${expected}/clustertrustbundles`).listener.replaced(list);
    assert.ok((await Promise.all(requests)).every(({ ok }) => ok));
    assert.equal(kube.watches.length, 1);
  });
}

test('trust bundles: a server that has none', async () => {
  const { bundles } = setUp([]);
  await assert.rejects(bundles.get({ name: 'x' }, never), (error) => codeOf(error) === 'unsupported');
});

test('trust bundles: a request that fails is retried', async () => {
  const clock = createManualClock();
  let away = true;
  const kube = createFakeKube(() =>
    away ? new CodedError('unavailable', 'refused') : { resources: [{ name: 'clustertrustbundles' }] },
  );
  const bundles = createTrustBundles({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    kube,
    notify: () => undefined,
    salt: '',
  });
  bundles.start(never);
  await assert.rejects(bundles.get({ name: 'plain' }, never), (error) => codeOf(error) === 'unavailable');
  away = false;
  const answer = bundles.get({ name: 'plain' }, never);
  await settled();
  kube.running(`${GROUP}/v1beta1/clustertrustbundles`).listener.replaced(list);
  assert.equal((await answer).ok, true);
});

test('trust bundles: no list in time', async () => {
  const { clock, bundles } = setUp([`${GROUP}/v1beta1`]);
  const answer = bundles.get({ name: 'x' }, never).catch((error: unknown) => error);
  await settled();
  await clock.advance(10_000);
  assert.equal(codeOf(await answer), 'unavailable');
});

const CASES: Readonly<
  Record<
    string,
    readonly [Parameters<Awaited<ReturnType<typeof listed>>['bundles']['get']>[0], readonly string[] | RegExp]
  >
> = {
  'by name': [{ name: 'plain' }, ['QUFB', 'QkJC']],
  'by a name that is not there': [{ name: 'x' }, /clustertrustbundle.certificates.k8s.io "x" not found/],
  'all of a signer, each anchor once': [{ signerName: 'example.com/a', labelSelector: {} }, ['QUFB', 'Q0ND', 'RERE']],
  'some of a signer': [
    { signerName: 'example.com/a', labelSelector: { matchLabels: { env: 'live' } } },
    ['Q0ND', 'RERE'],
  ],
  'none of a signer': [
    { signerName: 'example.com/a', labelSelector: { matchLabels: { env: 'x' } } },
    /matched zero ClusterTrustBundles/,
  ],
  'without a selector': [{ signerName: 'example.com/a', labelSelector: undefined }, /matched zero ClusterTrustBundles/],
};

for (const [name, [request, expected]] of Object.entries(CASES)) {
  test(`trust bundles: ${name}`, async () => {
    const { bundles } = await listed();
    const found = await bundles.get(request, never);
    if (expected instanceof RegExp) assert.match(found.ok ? '' : found.problem, expected);
    else assert.deepEqual(found.ok && pemBlocks(found.value).toSorted(), expected.toSorted());
  });
}

test('trust bundles: the order is the same every time, and another in another process', async () => {
  const request = { signerName: 'example.com/a', labelSelector: {} };
  const orders = new Set<string>();
  for (const salt of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const { bundles } = await listed(salt);
    const [first, second] = [await bundles.get(request, never), await bundles.get(request, never)];
    assert.deepEqual(first, second);
    orders.add(first.ok ? first.value : '');
  }
  assert.ok(orders.size > 1);
});

test('trust bundles: changes are notified and seen', async () => {
  const { kube, bundles, notified } = await listed();
  notified.length = 0;
  const watch = kube.running(`${GROUP}/v1beta1/clustertrustbundles`).listener;
  watch.changed(bundle('plain', pem('RkZG')));
  assert.deepEqual(notified, ['plain']);
  const found = await bundles.get({ name: 'plain' }, never);
  assert.deepEqual(found.ok && pemBlocks(found.value), ['RkZG']);
  watch.removed(bundle('plain', ''));
  assert.equal((await bundles.get({ name: 'plain' }, never)).ok, false);
});
