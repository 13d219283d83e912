/** What pods refer to, in a real cluster under our kubelet. One cluster serves the whole file. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { lab } from '../lab/lab.ts';
import { ACCOUNTS } from '../lab/registry.ts';
import { imageOf } from '../node/images-support.ts';
import { runs, stays } from '../node/pod-support.ts';
import {
  beginCrashing,
  eventForms,
  eventsWhileAway,
  eventWrites,
  podCertificates,
  trustBundles,
} from './objects-checks.ts';
import { changes, fetched, tokens } from './objects-in-process.ts';
import {
  type Asked,
  CONFIG_MAPS,
  CORE,
  eventsOf,
  IN_PROCESS,
  type ObjectWorld,
  objectWorld,
  SECRETS,
} from './objects-support.ts';
import { eventually, phaseIs } from './pods-support.ts';

test('objects that pods refer to', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const gates = { ClusterTrustBundleProjection: true, ClusterTrustBundle: true, PodCertificateRequest: true };
  const names = Object.keys(gates).map((gate) => `${gate}=true`);
  const served = ['clustertrustbundles', 'podcertificaterequests'].map(
    (kind) => `certificates.k8s.io/v1beta1/${kind}=true`,
  );
  const world = await objectWorld(t, {
    config: { featureGates: gates },
    controlPlaneFlags: { 'kube-apiserver': [`--feature-gates=${names}`, `--runtime-config=${served}`] },
  });
  const crashing = beginCrashing(world);
  crashing.catch(() => undefined); // told where it is awaited
  await t.test('variables from config maps and secrets', () => variables(world));
  await t.test('what is missing is said, and the pod starts when it is there', () => missing(world));
  await t.test('a pull secret opens a registry, one that is not there is told', () => pullSecrets(world));
  await t.test('variables of services', () => services(world));
  await t.test('a RuntimeClass names the handler', () => runtimeClass(world));
  await t.test('only what pods use is asked for, once, and no longer than they are here', () => onlyWhatIsUsed(world));
  await t.test('an immutable object is read once', (t) => immutable(world, t));
  await t.test('changes of objects are told; foreign ones are refused', (t) => changes(world, t));
  await t.test('more objects than one connection has streams', () => manyObjects(world));
  for (const strategy of ['Cache', 'Get'] as const) {
    await t.test(`strategy ${strategy} in this process`, (t) => fetched(world, t, strategy));
  }
  await t.test('tokens are bound to the pod and renewed in time', (t) => tokens(world, t));
  await t.test('anchors of cluster trust bundles, also of one that comes later', (t) => trustBundles(world, t));
  await t.test('pod certificates with keys of every type', (t) => podCertificates(world, t));
  await crashing;
  await t.test('events in their usual form, counted', () => eventForms(world));
  await t.test('a simple life makes four events in four writes', () => eventWrites(world));
  await t.test('events of a time without the API server come after it', () => eventsWhileAway(world));
});

/** What the container wrote as its last words. */
async function lastWords(world: ObjectWorld, name: string): Promise<readonly string[]> {
  const pod = await world.become(name, 'Succeeded', phaseIs('Succeeded'));
  const message = pod.status?.containerStatuses?.[0]?.state?.terminated?.message ?? '';
  return message.split('\n').filter((line) => line !== '');
}

const printEnv = (pattern: string, more: object = {}) =>
  runs('main', `tr '\\0' '\\n' < /proc/1/environ | grep -E '${pattern}' | sort > /dev/termination-log`, more);

async function variables(world: ObjectWorld): Promise<void> {
  const { admin } = world.cluster;
  await admin.create(CONFIG_MAPS, { metadata: { name: 'settings' }, data: { color: 'blue', 'key-1': 'v1' } });
  await admin.create(SECRETS, { metadata: { name: 'pass' }, stringData: { user: 'ada', word: 's3cret' } });
  await world.create('variables', {
    restartPolicy: 'Never',
    containers: [
      printEnv('^(X_|OWN)', {
        envFrom: [
          { prefix: 'X_', configMapRef: { name: 'settings' } },
          { prefix: 'X_', secretRef: { name: 'pass' } },
          { prefix: 'X_', secretRef: { name: 'not-there', optional: true } },
        ],
        env: [
          { name: 'OWN_COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } },
          { name: 'OWN_WORD', valueFrom: { secretKeyRef: { name: 'pass', key: 'word' } } },
          { name: 'OWN_NONE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
          { name: 'OWN_BOTH', value: '$(OWN_COLOR)-$(X_user)' },
        ],
      }),
    ],
  });
  assert.deepEqual(await lastWords(world, 'variables'), [
    'OWN_BOTH=blue-ada',
    'OWN_COLOR=blue',
    'OWN_WORD=s3cret',
    'X_color=blue',
    'X_key-1=v1',
    'X_user=ada',
    'X_word=s3cret',
  ]);
}

const waitsWith = (reason: string, message: string) => (pod: Awaited<ReturnType<ObjectWorld['get']>>) => {
  const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting;
  return waiting?.reason === reason && waiting.message === message;
};

async function missing(world: ObjectWorld): Promise<void> {
  const { admin } = world.cluster;
  const env = (source: object) => [{ name: 'A', valueFrom: source }];
  const cases = {
    'no-map': [env({ configMapKeyRef: { name: 'later-map', key: 'k' } }), 'configmap "later-map" not found'],
    'no-secret': [env({ secretKeyRef: { name: 'later-secret', key: 'k' } }), 'secret "later-secret" not found'],
    'no-key': [
      env({ configMapKeyRef: { name: 'settings', key: 'none' } }),
      "couldn't find key none in ConfigMap default/settings",
    ],
  } as const;
  for (const [name, [variable]] of Object.entries(cases)) {
    await world.create(name, { containers: [stays('main', { env: variable })] });
  }
  for (const [name, [, message]] of Object.entries(cases)) {
    await world.become(name, message, waitsWith('CreateContainerConfigError', message));
    await eventually(`event of ${name}`, async () =>
      (await eventsOf(world, name)).some(
        (event) => event.type === 'Warning' && event.reason === 'Failed' && event.message === `Error: ${message}`,
      ),
    );
  }
  await admin.create(CONFIG_MAPS, { metadata: { name: 'later-map' }, data: { k: 'v' } });
  await admin.create(SECRETS, { metadata: { name: 'later-secret' }, stringData: { k: 'v' } });
  // Sooner than with the next regular try, a minute later.
  await world.ready('no-map', 45_000);
  await world.ready('no-secret', 45_000);
  for (const name of Object.keys(cases)) await world.delete(name);
  for (const name of Object.keys(cases)) await world.gone(name);
}

async function pullSecrets(world: ObjectWorld): Promise<void> {
  const { cluster } = world;
  const registry = await lab.registry(cluster.node, { auth: true });
  const image = await registry.push(imageOf('private'), 'team/private:1');
  const [{ user, password }] = ACCOUNTS;
  const auth = Buffer.from(`${user}:${password}`).toString('base64');
  const pod = (secret: string) => ({
    restartPolicy: 'Never',
    imagePullSecrets: [{ name: secret }],
    containers: [{ name: 'main', image, imagePullPolicy: 'Always' }],
  });
  await world.create('no-login', pod('registry-login'));
  await eventually('the missing pull secret is told', async () =>
    (await eventsOf(world, 'no-login')).some(
      ({ type, reason, message }) =>
        type === 'Warning' &&
        reason === 'FailedToRetrieveImagePullSecret' &&
        message ===
          'Unable to retrieve some image pull secrets (registry-login); attempting to pull the image may not succeed.',
    ),
  );
  await world.become('no-login', 'ErrImagePull', ({ status }) =>
    ['ErrImagePull', 'ImagePullBackOff'].includes(status?.containerStatuses?.[0]?.state?.waiting?.reason ?? ''),
  );
  await cluster.admin.create(SECRETS, {
    metadata: { name: 'registry-login' },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths: { [registry.host]: { auth } } }) },
  });
  await world.create('login', pod('registry-login'));
  await eventually('the image was pulled', async () =>
    (await eventsOf(world, 'login')).some(({ reason, message }) => reason === 'Pulled' && message.includes(image)),
  );
  assert.ok((await registry.requests()).some((request) => request.user === user && request.status === 200));
  for (const name of ['no-login', 'login']) await world.delete(name);
}

async function services(world: ObjectWorld): Promise<void> {
  const ports = [
    { name: 'http', port: 80 },
    { name: 'admin', port: 8443 },
  ];
  const made = await world.cluster.admin.create(`${CORE}/services`, {
    metadata: { name: 'web-front' },
    spec: { ports, selector: { app: 'none' } },
  });
  const address = String(made.spec?.['clusterIP']);
  const spec = { restartPolicy: 'Never', containers: [printEnv('^(WEB_FRONT|KUBERNETES)_SERVICE')] };
  await world.create('links', spec);
  await world.create('no-links', { ...spec, enableServiceLinks: false });
  const kubernetes = ['KUBERNETES_SERVICE_HOST=', 'KUBERNETES_SERVICE_PORT=443', 'KUBERNETES_SERVICE_PORT_HTTPS=443'];
  const plain = (words: readonly string[]) => words.map((word) => word.replace(/(KUBERNETES_SERVICE_HOST=).*/, '$1'));
  assert.deepEqual(plain(await lastWords(world, 'links')), [
    ...kubernetes,
    `WEB_FRONT_SERVICE_HOST=${address}`,
    'WEB_FRONT_SERVICE_PORT=80',
    'WEB_FRONT_SERVICE_PORT_ADMIN=8443',
    'WEB_FRONT_SERVICE_PORT_HTTP=80',
  ]);
  assert.deepEqual(plain(await lastWords(world, 'no-links')), kubernetes);
}

async function runtimeClass(world: ObjectWorld): Promise<void> {
  const classes = '/apis/node.k8s.io/v1/runtimeclasses';
  for (const [name, handler] of [
    ['plain', 'runc'],
    ['strange', 'no-such-handler'],
  ]) {
    await world.cluster.admin.create(classes, { metadata: { name }, handler });
  }
  await world.create('plain-class', { runtimeClassName: 'plain' });
  await world.create('strange-class', { runtimeClassName: 'strange' });
  await world.ready('plain-class');
  await eventually('the runtime does not know the handler', async () =>
    (await eventsOf(world, 'strange-class')).some(
      ({ reason, message }) => reason === 'FailedCreatePodSandBox' && message.includes('no-such-handler'),
    ),
  );
  for (const name of ['plain-class', 'strange-class']) await world.delete(name);
  for (const name of ['plain-class', 'strange-class']) await world.gone(name);
}

const readsOf = async (world: ObjectWorld, resource: string) =>
  (await world.asked()).filter(
    (one) => one.resource === resource && ['get', 'list', 'watch'].includes(one.verb) && one.client !== IN_PROCESS,
  );

/** The first may be denied, because the kubelet can learn of a pod sooner than the API server's Node authorizer does. */
const isAnswered = ({ code }: Asked): boolean => code !== 403;

/** Watches that have begun and not ended. */
async function openWatches(world: ObjectWorld): Promise<readonly string[]> {
  const open = new Map<string, number>();
  for (const { verb, stage, resource, name } of await world.asked()) {
    if (verb !== 'watch' || !['secrets', 'configmaps'].includes(resource)) continue;
    const key = `${resource}/${name}`;
    open.set(key, (open.get(key) ?? 0) + (stage === 'ResponseStarted' ? 1 : -1));
  }
  return [...open].filter(([, count]) => count > 0).map(([key]) => key);
}

async function onlyWhatIsUsed(world: ObjectWorld): Promise<void> {
  const { admin } = world.cluster;
  for (const name of ['shared', 'unused']) await admin.create(SECRETS, { metadata: { name }, stringData: { k: 'v' } });
  const spec = {
    containers: [stays('main', { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'shared', key: 'k' } } }] })],
  };
  const names = ['share-1', 'share-2', 'share-3'];
  for (const name of names) await world.create(name, spec);
  for (const name of names) await world.ready(name);
  const reads = await readsOf(world, 'secrets');
  assert.deepEqual(
    reads.filter(({ name }) => name === ''),
    [],
    'each request names its object',
  );
  assert.ok(!reads.some(({ name }) => name === 'unused'));
  assert.deepEqual(
    reads
      .filter((read) => read.name === 'shared' && isAnswered(read))
      .map(({ verb, stage, code }) => `${verb} ${stage} ${code}`),
    ['watch ResponseStarted 200'],
    'one watch for three pods',
  );
  assert.ok((await openWatches(world)).includes('secrets/shared'));
  for (const name of names) await world.delete(name);
  for (const name of names) await world.gone(name);
  await eventually(
    'the watch ends with the last pod',
    async () => !(await openWatches(world)).includes('secrets/shared'),
  );
}

async function immutable(world: ObjectWorld, t: TestContext): Promise<void> {
  await world.cluster.admin.create(CONFIG_MAPS, { metadata: { name: 'fixed' }, immutable: true, data: { k: 'v' } });
  const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'fixed', key: 'k' } } }];
  await world.create('fixed', { containers: [stays('main', { env })] });
  await world.ready('fixed');
  const readsOfFixed = async () => (await readsOf(world, 'configmaps')).filter(({ name }) => name === 'fixed');
  await eventually('its watch ends', async () =>
    (await readsOfFixed()).some((read) => isAnswered(read) && read.stage === 'ResponseComplete'),
  );
  const reads = await readsOfFixed();
  t.diagnostic(`${reads.filter((read) => !isAnswered(read)).length / 2} requests were denied before`);
  assert.deepEqual(
    reads.filter(isAnswered).map(({ verb, stage, code }) => `${verb} ${stage} ${code}`),
    ['watch ResponseStarted 200', 'watch ResponseComplete 200'],
  );
  await world.delete('fixed');
  await world.gone('fixed');
}

/** The API server takes a hundred streams on a connection: beyond them, watches must neither wait nor hold up others. */
async function manyObjects(world: ObjectWorld): Promise<void> {
  const { admin } = world.cluster;
  const names = Array.from({ length: 150 }, (_, index) => `many-${index}`);
  for (const name of names) await admin.create(CONFIG_MAPS, { metadata: { name }, data: { [name]: 'v' } });
  const envFrom = names.map((name) => ({ configMapRef: { name } }));
  await world.create('many', { containers: [stays('main', { envFrom })] });
  await world.ready('many');
  const open = (await openWatches(world)).filter((name) => name.startsWith('configmaps/many-'));
  assert.equal(open.length, names.length);
  await world.create('beside-many');
  await world.ready('beside-many');
  for (const name of ['many', 'beside-many']) await world.delete(name);
  for (const name of ['many', 'beside-many']) await world.gone(name);
}
