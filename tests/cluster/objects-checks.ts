/** Trust bundles, pod certificates and events: checks that share the world of `objects.test.ts`. */
import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { TestContext } from 'node:test';
import { waitForObject } from '../lab/cluster/wait.ts';
import { runs, stays } from '../node/pod-support.ts';
import { answerRequest, createAuthority } from './objects-certificates.ts';
import { type ApiEvent, CERTIFICATES, CORE, eventsOf, type ObjectWorld } from './objects-support.ts';
import { eventually, NODE, restarts } from './pods-support.ts';

const SIGNER = 'example.com/test';
const REQUESTS = `${CERTIFICATES}/namespaces/default/podcertificaterequests`;

/** What the pod's volume shows, read on the node. */
async function shown(world: ObjectWorld, name: string): Promise<string> {
  const { uid } = (await world.get(name)).metadata;
  const files = `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~projected/v/*.pem`;
  const { stdout, stderr, code } = await world.cluster.node.exec(['sh', '-c', `cat ${files}`]);
  assert.equal(code, 0, stderr);
  return stdout;
}

const projected = (...sources: readonly object[]) => ({
  containers: [stays('main', { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
  volumes: [{ name: 'v', projected: { sources } }],
});

export async function trustBundles(world: ObjectWorld, t: TestContext): Promise<void> {
  const { admin } = world.cluster;
  const [one, two] = await Promise.all([createAuthority(t, 'one'), createAuthority(t, 'two')]);
  const bundle = (name: string, trustBundle: string, labels: object) => ({
    metadata: { name: `example.com:test:${name}`, labels },
    spec: { signerName: SIGNER, trustBundle },
  });
  const bundles = `${CERTIFICATES}/clustertrustbundles`;
  await admin.create(bundles, bundle('one', one.certificate, { env: 'test' }));
  await world.create(
    'trusts',
    projected({ clusterTrustBundle: { signerName: SIGNER, labelSelector: {}, path: 'roots.pem' } }),
  );
  await world.ready('trusts');
  const roots = async () =>
    ((await shown(world, 'trusts')).match(/-----BEGIN[\s\S]*?-----END CERTIFICATE-----/g) ?? [])
      .map((pem) => new X509Certificate(pem).subject)
      .toSorted();
  assert.deepEqual(await roots(), ['CN=one']);
  await admin.create(bundles, bundle('two', one.certificate + two.certificate, { env: 'live' }));
  await eventually('a new bundle is in the file', async () => (await roots()).length === 2);
  assert.deepEqual(await roots(), ['CN=one', 'CN=two']);
  await world.delete('trusts');
}

export async function podCertificates(world: ObjectWorld, t: TestContext): Promise<void> {
  const { admin } = world.cluster;
  const authority = await createAuthority(t, 'signer');
  const source = (keyType: string) => ({
    podCertificate: {
      signerName: SIGNER,
      keyType,
      credentialBundlePath: 'bundle.pem',
      userAnnotations: { 'example.com/a': 'b' },
    },
  });
  const requestOf = async (podName: string) => {
    const isOurs = (object: { readonly spec?: Readonly<Record<string, unknown>> }) =>
      object.spec?.['podName'] === podName;
    const list = async () =>
      ((await admin.get(REQUESTS))['items'] as Awaited<ReturnType<typeof admin.get>>[]).find(isOurs);
    await eventually(`a request of ${podName}`, async () => (await list()) !== undefined);
    const found = await list();
    assert.ok(found !== undefined);
    return found;
  };
  const keyTypes = ['ED25519', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'RSA3072'];
  const nameOf = (keyType: string) => `cert-${keyType.toLowerCase()}`;
  for (const keyType of keyTypes) await world.create(nameOf(keyType), projected(source(keyType)));
  for (const keyType of keyTypes) {
    const request = await requestOf(nameOf(keyType));
    assert.equal(request.spec?.['nodeName'], NODE);
    assert.deepEqual(request.spec?.['unverifiedUserAnnotations'], { 'example.com/a': 'b' });
    await answerRequest(admin, request, authority);
  }
  for (const keyType of keyTypes) {
    await world.ready(nameOf(keyType));
    const bundle = await shown(world, nameOf(keyType));
    const leaf = new X509Certificate(bundle.slice(bundle.indexOf('-----BEGIN CERTIFICATE')));
    assert.equal(leaf.subject, `CN=${nameOf(keyType)}`);
    assert.ok(leaf.checkPrivateKey(createPrivateKey(bundle)), keyType);
    await world.delete(nameOf(keyType));
  }

  await world.create('refused', projected(source('ED25519')));
  await answerRequest(admin, await requestOf('refused'), 'deny');
  await eventually('the refusal is told', async () =>
    (await eventsOf(world, 'refused')).some(({ type, reason }) => type === 'Warning' && reason === 'Denied'),
  );
  await world.delete('refused');
}

const of = (events: readonly ApiEvent[], reason: string) => events.filter((event) => event.reason === reason);

const kubeletEvents = async (world: ObjectWorld, pod: string) =>
  (await eventsOf(world, pod)).filter(({ reportingComponent }) => reportingComponent === 'kubelet');

/**
 * A pod that crashes again and again, while other checks go on. Events don't stay for ever: one that is deleted meanwhile is made anew
 * when it happens again.
 */
export async function beginCrashing(world: ObjectWorld): Promise<void> {
  await world.create('crashes', { containers: [runs('main', 'exit 3')] });
  const started = async () => of(await kubeletEvents(world, 'crashes'), 'Started')[0];
  await eventually('a first event', async () => (await started()) !== undefined);
  await world.cluster.kubectl('delete', 'event', (await started())?.metadata.name ?? '');
}

/** One object for each kind of event, counted. */
export async function eventForms(world: ObjectWorld): Promise<void> {
  const pod = await world.become('crashes', 'restarted', (seen) => restarts(seen) >= 2);
  await eventually(
    'counted events',
    async () => (of(await kubeletEvents(world, 'crashes'), 'Started')[0]?.count ?? 0) >= 3,
  );
  const events = await kubeletEvents(world, 'crashes');
  for (const reason of ['Pulled', 'Created', 'Started']) assert.equal(of(events, reason).length, 1, reason);
  const backOffs = of(events, 'BackOff');
  assert.equal(backOffs.length, 1);
  const [event] = of(events, 'Started');
  assert.ok(event !== undefined);
  const { metadata, firstTimestamp, lastTimestamp, count, involvedObject, ...form } = event;
  assert.match(metadata.name, /^crashes\.[0-9a-f]{14,16}$/);
  assert.ok(lastTimestamp > firstTimestamp && count >= 3);
  const { resourceVersion, ...object } = involvedObject;
  assert.ok(resourceVersion);
  assert.deepEqual(object, {
    kind: 'Pod',
    namespace: 'default',
    name: 'crashes',
    uid: pod.metadata.uid,
    apiVersion: 'v1',
    fieldPath: 'spec.containers{main}',
  });
  assert.deepEqual(form, {
    reason: 'Started',
    message: 'Container started',
    source: { component: 'kubelet', host: NODE },
    type: 'Normal',
    eventTime: null,
    reportingComponent: 'kubelet',
    reportingInstance: NODE,
  });
  const refused = (await world.asked()).filter(({ resource, code }) => resource === 'events' && code >= 400);
  assert.deepEqual(
    refused.map(({ verb, code, name }) => `${verb} ${name} ${code}`),
    [`patch ${metadata.name} 404`],
    'only the one that was deleted',
  );
  await world.delete('crashes');
}

export async function eventWrites(world: ObjectWorld): Promise<void> {
  await world.create('simple-events');
  await world.ready('simple-events');
  await world.delete('simple-events');
  await world.gone('simple-events');
  await eventually('all its events', async () => (await kubeletEvents(world, 'simple-events')).length >= 4);
  const names = new Set((await kubeletEvents(world, 'simple-events')).map(({ metadata }) => metadata.name));
  assert.equal(names.size, 4);
  const writes = async () =>
    (await world.asked()).filter(({ resource, name }) => resource === 'events' && names.has(name)).length;
  // A request is written down after it was answered.
  await eventually('all writes are in the log', async () => (await writes()) >= 4);
  assert.equal(await writes(), 4);
}

/** The API server is away for a while: what happened meanwhile is told after, and nothing waits for it. */
export async function eventsWhileAway(world: ObjectWorld): Promise<void> {
  const { cluster } = world;
  const server = cluster.components['kube-apiserver'];
  const script = 'sleep 2; exit 4';
  await world.create('lonely', { containers: [runs('main', script)] });
  await world.become('lonely', 'running', (pod) => pod.status?.containerStatuses?.[0]?.state?.running !== undefined);
  await server.stop();
  await new Promise((resolve) => setTimeout(resolve, 5000));
  await server.start();
  await waitForObject(
    cluster.admin,
    { collection: `${CORE}/pods`, name: 'lonely', what: 'restarted while the server was away' },
    (object) => restarts(object as never) >= 1,
  );
  await eventually(
    'the restart is told',
    async () => (of(await kubeletEvents(world, 'lonely'), 'Started')[0]?.count ?? 0) >= 2,
  );
  await world.delete('lonely');
}
