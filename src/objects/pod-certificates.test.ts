import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { formatTimestamp } from '../api/timestamp.ts';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { KubeObject, KubeRequest } from '../kube/kube.ts';
import { createFakeKube } from './kube-testing.ts';
import { createPodCertificates } from './pod-certificates.ts';

const HOUR = 3_600_000;
const LIST = '/apis/certificates.k8s.io/v1beta1/podcertificaterequests';
const pod: Pod = {
  metadata: { name: 'web', namespace: 'ns', uid: 'u1' },
  spec: {
    serviceAccountName: 'robot',
    containers: [{ name: 'c' }],
    volumes: [
      {
        name: 'v',
        projected: {
          sources: [
            { downwardAPI: {} },
            {
              podCertificate: {
                signerName: 'example.com/s',
                keyType: 'ECDSAP256',
                maxExpirationSeconds: 7200,
                userAnnotations: { 'example.com/a': 'b' },
              },
            },
          ],
        },
      },
    ],
  },
};
const options = { pod, volumeName: 'v', sourceIndex: 1 };

interface Status {
  readonly spec: { readonly podUID: string };
  readonly status: object;
}

async function setUp(answer?: (request: KubeRequest) => unknown) {
  const clock = createManualClock(1_700_000_000_000);
  let serial = 0;
  const made = () => ({ metadata: { name: `req-${++serial}`, creationTimestamp: formatTimestamp(clock.now()) } });
  const kube = createFakeKube((request) => answer?.(request) ?? made());
  const notified: string[] = [];
  const events: string[] = [];
  const certificates = createPodCertificates(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log: createSilentLogger(),
      kube,
      record: ({ reason }) => events.push(reason),
      serviceAccountUid: () => Promise.resolve('sa-uid'),
      nodeUid: () => Promise.resolve('node-uid'),
      notify: ({ namespace, name }) => notified.push(`${namespace}/${name}`),
      random: () => 0,
    },
    { nodeName: 'node1' },
  );
  const stopping = new AbortController();
  await certificates.start(stopping.signal);
  const watch = kube.running(LIST, 'spec.nodeName=node1').listener;
  watch.replaced([]);
  const show = (name: string, type: string | undefined, chain = 'QUJD'): KubeObject & Status => ({
    metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1' },
    spec: { podUID: 'u1' },
    status: {
      conditions: type === undefined ? [] : [{ type, reason: 'R', message: 'm' }],
      certificateChain: `-----BEGIN CERTIFICATE-----\n${chain}\n-----END CERTIFICATE-----\n`,
      beginRefreshAt: formatTimestamp(clock.now() + HOUR),
      notAfter: formatTimestamp(clock.now() + 2 * HOUR),
    },
  });
  return { clock, kube, notified, events, certificates, watch, show, stopping };
}

/** Keys are made in another thread. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
}

test('pod certificates: requested when the pod comes, given out when issued, renewed in time', async () => {
  const { clock, kube, notified, certificates, watch, show } = await setUp();
  assert.deepEqual(certificates.get(options).kind, 'waiting');
  certificates.setPods([pod]);
  certificates.setPods([pod]);
  await until(() => kube.requests.length === 1);
  const body = kube.requests[0]?.body as { readonly spec: Record<string, unknown>; readonly metadata: unknown };
  assert.equal(kube.requests[0]?.path, '/apis/certificates.k8s.io/v1beta1/namespaces/ns/podcertificaterequests');
  const { stubPKCS10Request, ...spec } = body.spec;
  assert.ok(Buffer.from(String(stubPKCS10Request), 'base64').length > 100);
  assert.deepEqual(spec, {
    signerName: 'example.com/s',
    podName: 'web',
    podUID: 'u1',
    serviceAccountName: 'robot',
    serviceAccountUID: 'sa-uid',
    nodeName: 'node1',
    nodeUID: 'node-uid',
    maxExpirationSeconds: 7200,
    unverifiedUserAnnotations: { 'example.com/a': 'b' },
  });
  assert.deepEqual(body.metadata, {
    namespace: 'ns',
    generateName: 'req-',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' }],
  });

  watch.changed(show('req-1', undefined));
  assert.deepEqual(certificates.get(options), { kind: 'waiting', message: 'credential bundle is not issued yet' });
  watch.changed(show('other', 'Issued'));
  assert.deepEqual(notified, []);
  watch.changed(show('req-1', 'Issued'));
  const first = certificates.get(options);
  assert.ok(first.kind === 'issued');
  assert.match(first.privateKey, /BEGIN PRIVATE KEY/);
  assert.deepEqual(notified, ['ns/web']);

  await clock.advance(HOUR);
  await until(() => kube.requests.length === 2);
  assert.deepEqual(certificates.get(options), first, 'the old one until the new one exists');
  await until(() => clock.sleepers() > 0);
  watch.changed(show('req-2', 'Issued', 'REVG'));
  const second = certificates.get(options);
  assert.ok(second.kind === 'issued' && second.privateKey !== first.privateKey);
  assert.match(second.certificateChain, /REVG/);
  assert.deepEqual(notified, ['ns/web', 'ns/web']);
});

test('pod certificates: a refusal is final and reported', async () => {
  const { kube, events, certificates, watch, show } = await setUp();
  certificates.setPods([pod]);
  await until(() => kube.requests.length === 1);
  await new Promise((resolve) => setImmediate(resolve));
  watch.changed(show('req-1', 'Denied'));
  assert.deepEqual(certificates.get(options).kind, 'refused');
  assert.deepEqual(events, ['Denied']);
});

test('pod certificates: a request that was deleted is created again', async () => {
  const { kube, certificates, watch, show } = await setUp();
  certificates.setPods([pod]);
  await until(() => kube.requests.length === 1);
  await new Promise((resolve) => setImmediate(resolve));
  watch.changed(show('req-1', undefined));
  watch.removed(show('req-1', undefined));
  await until(() => kube.requests.length === 2);
});

test('pod certificates: requests to a server that is away are retried with back-off, and the reason is shown', async () => {
  let away = true;
  const { clock, kube, certificates } = await setUp(() =>
    away ? new CodedError('unavailable', 'refused') : undefined,
  );
  certificates.setPods([pod]);
  for (const [tries, pause] of [1000, 2000, 4000].entries()) {
    await until(() => kube.requests.length === tries + 1 && clock.sleepers() > 0);
    const answer = certificates.get(options);
    assert.ok(answer.kind === 'waiting' && /refused/.test(answer.message));
    await clock.advance(pause - 1);
    assert.equal(kube.requests.length, tries + 1);
    away = tries < 2;
    await clock.advance(1);
  }
  await until(() => kube.requests.length === 4);
});

test('pod certificates: a pod that is gone is no longer cared for', async () => {
  const { clock, kube, certificates, watch, show } = await setUp();
  certificates.setPods([pod]);
  await until(() => kube.requests.length === 1);
  await new Promise((resolve) => setImmediate(resolve));
  watch.changed(show('req-1', 'Issued'));
  certificates.setPods([]);
  assert.equal(certificates.get(options).kind, 'waiting');
  await clock.advance(2 * HOUR);
  assert.equal(kube.requests.length, 1);
  assert.equal(clock.sleepers(), 0);
});
