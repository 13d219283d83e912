import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createEventExpiry } from './event-expiry.ts';
import { createTestApi, memoryJournal, type TestApi } from './testing.ts';
import type { WatchEvent, WatchEvents } from './watches.ts';

const PODS = '/api/v1/namespaces/default/pods';
const MAPS = '/api/v1/namespaces/default/configmaps';
const pod = (name: string, more: object = {}, container: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { containers: [{ name: 'main', image: 'i', ...container }], ...more },
});
const map = (name: string, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

const follow = async ({ ask }: TestApi, path: string): Promise<{ events: string[]; stop(): void }> => {
  const { body } = await ask(`GET ${path}`);
  const events: string[] = [];
  const stop = (body.events as WatchEvents).follow(({ type, object }: WatchEvent) => {
    const { name, resourceVersion } = (object as { metadata: { name?: string; resourceVersion: string } }).metadata;
    events.push(`${type} ${name ?? resourceVersion}`);
  });
  return { events, stop };
};

test('a pod gets its identity, its defaults, this node and a pending status', async () => {
  const { ask } = await createTestApi();
  const { status, body } = await ask(`POST ${PODS}`, { ...pod('a'), status: { phase: 'Running' } });
  assert.equal(status, 201);
  const { metadata, spec } = body;
  assert.deepEqual(
    [metadata.namespace, metadata.generation, spec.nodeName, spec.restartPolicy],
    ['default', 1, 'node1', 'Always'],
  );
  assert.deepEqual(body.status, { phase: 'Pending', qosClass: 'BestEffort' });
  assert.match(metadata.uid, /^[0-9a-f-]{36}$/);
  const generated = await ask(`POST ${PODS}`, { ...pod(''), metadata: { generateName: 'job-' } });
  assert.equal(generated.body.metadata.name, 'job-abcde');
});

for (const { name, line, body, status, reason, text } of [
  {
    name: 'an unknown namespace',
    line: 'POST /api/v1/namespaces/none/pods',
    body: pod('b'),
    status: 404,
    reason: 'NotFound',
    text: /namespaces "none" not found/,
  },
  {
    name: 'another namespace',
    line: `POST ${PODS}`,
    body: { ...pod('b'), metadata: { name: 'b', namespace: 'x' } },
    status: 400,
    reason: 'BadRequest',
    text: /does not match the namespace/,
  },
  {
    name: 'a name that is taken',
    line: `POST ${PODS}`,
    body: pod('a'),
    status: 409,
    reason: 'AlreadyExists',
    text: /pods "a" already exists/,
  },
  {
    name: 'another node',
    line: `POST ${PODS}`,
    body: pod('b', { nodeName: 'x' }),
    status: 422,
    reason: 'Invalid',
    text: /spec.nodeName: Invalid value: "x": this node is "node1"/,
  },
  {
    name: 'no containers',
    line: `POST ${PODS}`,
    body: { kind: 'Pod', metadata: { name: 'b' } },
    status: 422,
    reason: 'Invalid',
    text: /spec.containers: Required value/,
  },
  {
    name: 'a number for a name',
    line: `POST ${PODS}`,
    body: pod('b', {}, { name: 7 }),
    status: 400,
    reason: 'BadRequest',
    text: /cannot be handled as a Pod: spec.containers\[0\].name: must be a string/,
  },
  {
    name: 'an unknown field, strictly',
    line: `POST ${PODS}?fieldValidation=Strict`,
    body: pod('b', { x: 1 }),
    status: 400,
    reason: 'BadRequest',
    text: /strict decoding error: unknown field "spec.x"/,
  },
  {
    name: 'a Deployment',
    line: 'POST /apis/apps/v1/namespaces/default/deployments',
    body: {},
    status: 405,
    reason: 'MethodNotAllowed',
    text: /Deployment needs a control plane, and this node has none; it accepts configmaps, events/,
  },
  {
    name: 'an unknown path',
    line: 'GET /apis/x/v1/y',
    body: undefined,
    status: 404,
    reason: 'NotFound',
    text: /could not find the requested resource/,
  },
  {
    name: 'a new spec',
    line: `PATCH ${PODS}/a`,
    body: { spec: { hostNetwork: true } },
    status: 422,
    reason: 'Invalid',
    text: /pod updates may not change fields other than/,
  },
  {
    name: 'an old version',
    line: `PATCH ${PODS}/a`,
    body: { metadata: { resourceVersion: '1', labels: { x: 'y' } } },
    status: 409,
    reason: 'Conflict',
    text: /the object has been modified/,
  },
  {
    name: 'a list that is merged without its key',
    line: `PATCH ${PODS}/a`,
    body: { spec: { containers: [{ image: 'x' }] } },
    status: 400,
    reason: 'BadRequest',
    text: /does not contain declared merge key: name/,
  },
  {
    name: 'an unknown selector',
    line: `GET ${PODS}?fieldSelector=spec.x=y`,
    body: undefined,
    status: 400,
    reason: 'BadRequest',
    text: /field label not supported: spec.x/,
  },
  {
    name: 'a protected namespace',
    line: 'DELETE /api/v1/namespaces/default',
    body: undefined,
    status: 403,
    reason: 'Forbidden',
    text: /may not be deleted/,
  },
]) {
  test(`refused: ${name}`, async () => {
    const { ask, store } = await createTestApi();
    await ask(`POST ${PODS}`, pod('a'));
    const before = store.revision();
    const answer = await ask(line, body);
    assert.deepEqual(
      [answer.status, answer.body.kind, answer.body.reason],
      [status, 'Status', reason],
      answer.body.message,
    );
    assert.match(answer.body.message, text);
    assert.equal(store.revision(), before, 'nothing has changed');
  });
}

test('faults of fields are causes', async () => {
  const { ask } = await createTestApi();
  const { body } = await ask(`POST ${PODS}`, pod('b', { restartPolicy: 'Sometimes' }));
  const [cause] = body.details.causes;
  assert.deepEqual([cause.reason, cause.field], ['FieldValueNotSupported', 'spec.restartPolicy']);
  assert.match(cause.message, /^Unsupported value: "Sometimes"/);
});

test('patches: an image and labels in each form, and what a strategic patch says beside the fields', async () => {
  const { ask } = await createTestApi();
  await ask(`POST ${PODS}`, pod('a', { volumes: [{ name: 'v', emptyDir: {} }] }));
  const imageOf = async (line: string, body: unknown) => (await ask(line, body)).body.spec?.containers?.[0]?.image;
  assert.equal(await imageOf(`PATCH ${PODS}/a`, { spec: { containers: [{ name: 'main', image: 'two' }] } }), 'two');
  assert.equal(
    await imageOf(`PATCH ${PODS}/a json`, [{ op: 'replace', path: '/spec/containers/0/image', value: 'three' }]),
    'three',
  );
  const merged = await ask(`PATCH ${PODS}/a merge`, { metadata: { labels: { app: null, x: 'y' } } });
  assert.deepEqual(merged.body.metadata.labels, { x: 'y' });
  assert.equal(merged.body.metadata.generation, 3, 'two new specs');
  const replaced = await ask(`PATCH ${PODS}/a`, { metadata: { labels: { $patch: 'replace', only: 'this' } } });
  assert.deepEqual(replaced.body.metadata.labels, { only: 'this' });
  const status = { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' };
  assert.deepEqual((await ask(`PATCH ${PODS}/a/status`, { status })).body.status, {
    ...status,
    qosClass: 'BestEffort',
  });
  const again = await ask(`PATCH ${PODS}/a/status`, {
    status: {
      conditions: [
        { type: 'Ready', status: 'False' },
        { type: 'X', status: 'True' },
      ],
    },
  });
  assert.deepEqual(
    again.body.status.conditions.map((one: { type: string; status: string }) => `${one.type} ${one.status}`),
    ['Ready False', 'X True'],
  );
  assert.equal(
    (await ask(`PATCH ${PODS}/a`, { status: { phase: 'Failed' } })).body.status.phase,
    'Running',
    'only by its own path',
  );
});

test('apply: fields have owners, a conflict names them, what is left out goes', async () => {
  const { ask } = await createTestApi();
  const apply = (manager: string, data: object, more = '') =>
    ask(`PATCH ${MAPS}/m?fieldManager=${manager}${more} apply`, map('m', data));
  assert.equal((await apply('one', { a: '1', b: '1' })).status, 201);
  const clash = await apply('two', { a: '2' });
  assert.deepEqual([clash.status, clash.body.details.causes[0].field], [409, '.data.a']);
  assert.equal((await apply('two', { a: '2', c: '2' }, '&force=true')).status, 200);
  assert.deepEqual((await apply('one', { b: '3' })).body.data, { a: '2', b: '3', c: '2' });
  assert.deepEqual((await apply('two', { c: '4' })).body.data, { b: '3', c: '4' });
});

test('dry runs change nothing', async () => {
  const { ask, store } = await createTestApi();
  await ask(`POST ${PODS}`, pod('a'));
  const before = store.revision();
  for (const [line, body] of [
    [`POST ${PODS}?dryRun=All`, pod('b')],
    [`PATCH ${PODS}/a?dryRun=All`, { metadata: { labels: { x: 'y' } } }],
    [`DELETE ${PODS}/a?dryRun=All`, undefined],
    [`PATCH ${MAPS}/m?fieldManager=x&dryRun=All apply`, map('m', {})],
  ] as const) {
    assert.ok((await ask(line, body)).status < 300, line);
  }
  assert.equal(store.revision(), before);
});

test('a pod is deleted with grace, which only shrinks, and goes when its node says so', async () => {
  const api = await createTestApi();
  const { ask } = api;
  const { body: made } = await ask(`POST ${PODS}`, pod('a', { terminationGracePeriodSeconds: 10 }));
  const { events } = await follow(api, '/api/v1/pods?watch=true');
  const graces = [];
  for (const query of ['', '?gracePeriodSeconds=20', '?gracePeriodSeconds=5']) {
    graces.push((await ask(`DELETE ${PODS}/a${query}`)).body.metadata.deletionGracePeriodSeconds);
  }
  assert.deepEqual(graces, [10, 10, 5]);
  const other = await ask(`DELETE ${PODS}/a`, { gracePeriodSeconds: 0, preconditions: { uid: 'x' } });
  assert.equal(other.status, 409);
  assert.equal(
    (await ask(`DELETE ${PODS}/a`, { gracePeriodSeconds: 0, preconditions: { uid: made.metadata.uid } })).status,
    200,
  );
  assert.equal((await ask(`GET ${PODS}/a`)).status, 404);
  assert.deepEqual(events, ['ADDED a', 'MODIFIED a', 'MODIFIED a', 'DELETED a']);
});

test('an object with finalizers waits for them', async () => {
  const { ask } = await createTestApi();
  await ask(`POST ${MAPS}`, { ...map('m', {}), metadata: { name: 'm', finalizers: ['x.y/z'] } });
  assert.ok((await ask(`DELETE ${MAPS}/m`)).body.metadata.deletionTimestamp);
  await ask(`PATCH ${MAPS}/m merge`, { metadata: { finalizers: null } });
  assert.equal((await ask(`GET ${MAPS}/m`)).status, 404);
});

test('a watch sees what its selectors select: an object that no longer fits is gone for it', async () => {
  const api = await createTestApi();
  const { ask, store } = api;
  await ask(`POST ${PODS}`, pod('a'));
  const since = store.revision();
  const { events } = await follow(api, `${PODS}?watch=true&labelSelector=app%20in%20(a,b)&resourceVersion=${since}`);
  await ask(`POST ${PODS}`, pod('b'));
  await ask(`POST ${PODS}`, pod('c'));
  await ask(`PATCH ${PODS}/a merge`, { metadata: { labels: { app: 'x' } } });
  await ask(`PATCH ${PODS}/a merge`, { metadata: { labels: { app: 'a' } } });
  assert.deepEqual(events, ['ADDED b', 'DELETED a', 'ADDED a']);
  const again = await follow(api, `${PODS}?watch=true&labelSelector=app%20in%20(a,b)&resourceVersion=${since}`);
  assert.deepEqual(again.events, events, 'from the same version, the same');
  const whole = await follow(api, `${PODS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
  assert.deepEqual(whole.events, ['ADDED a', 'ADDED b', 'ADDED c', `BOOKMARK ${store.revision()}`]);
  assert.equal((await ask(`GET ${PODS}?watch=true&resourceVersion=${store.revision() + 5}`)).status, 410);
});

test('a version that is forgotten is 410, and a list then has everything', async () => {
  const api = await createTestApi();
  for (let count = 0; count < 40; count++)
    await api.ask(`PUT ${MAPS}/m`, map('m', { x: 'y'.repeat(60_000) + count })).then(async ({ status }) => {
      if (status === 404) await api.ask(`POST ${MAPS}`, map('m', {}));
    });
  const { status, body } = await api.ask(`GET ${MAPS}?watch=true&resourceVersion=2`);
  assert.deepEqual([status, body.reason], [410, 'Expired']);
  assert.equal((await api.ask(`GET ${MAPS}`)).body.items.length, 1);
});

test('a namespace takes everything in it along', async () => {
  const { ask, store } = await createTestApi();
  await ask('POST /api/v1/namespaces', { metadata: { name: 'n' } });
  await ask('POST /api/v1/namespaces/n/pods', pod('a'));
  await ask('POST /api/v1/namespaces/n/configmaps', map('m', {}));
  assert.equal((await ask('DELETE /api/v1/namespaces/n')).body.status.phase, 'Terminating');
  assert.equal(
    (await ask('POST /api/v1/namespaces/n/configmaps', map('x', {}))).body.details.causes[0].reason,
    'NamespaceTerminating',
  );
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  assert.ok((await ask('GET /api/v1/namespaces/n/pods/a')).body.metadata.deletionTimestamp, 'the pod has its time');
  await ask('DELETE /api/v1/namespaces/n/pods/a?gracePeriodSeconds=0');
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  assert.equal((await ask('GET /api/v1/namespaces/n')).status, 404);
  assert.equal(store.list('configmaps', 'n').length, 0);
});

test('secrets: plain texts become data, and an immutable one stays', async () => {
  const { ask } = await createTestApi();
  const secrets = '/api/v1/namespaces/default/secrets';
  const { body } = await ask(`POST ${secrets}`, { metadata: { name: 's' }, stringData: { a: 'ä' }, immutable: true });
  assert.deepEqual(
    [body.data, body.type, body.stringData],
    [{ a: Buffer.from('ä').toString('base64') }, 'Opaque', undefined],
  );
  assert.match((await ask(`PATCH ${secrets}/s merge`, { data: { a: 'eA==' } })).body.message, /field is immutable/);
  const wrong = await ask(`POST ${secrets}`, { metadata: { name: 't' }, data: { a: '???' } });
  assert.equal(wrong.status, 422);
});

test('a reader reads all but secrets, and enters nothing', async () => {
  const { ask } = await createTestApi();
  await ask(`POST ${PODS}`, pod('a'));
  const reader = { caller: { name: 'reader', groups: [], role: 'read-only' } } as const;
  const statuses = [];
  for (const line of [
    `GET ${PODS}`,
    `GET ${PODS}/a`,
    'GET /api/v1/secrets',
    `POST ${PODS}`,
    `DELETE ${PODS}/a`,
    `PATCH ${PODS}/a`,
    `GET ${PODS}?watch=1`,
  ]) {
    statuses.push((await ask(line, {}, reader)).status);
  }
  assert.deepEqual(statuses, [200, 200, 403, 403, 403, 403, 200]);
});

test('tables show pods as kubectl does', async () => {
  const { ask } = await createTestApi();
  await ask(`POST ${PODS}`, pod('a'));
  const waiting = { name: 'main', ready: false, restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  await ask(`PATCH ${PODS}/a/status`, { status: { containerStatuses: [waiting] } });
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
  const { body } = await ask(`GET ${PODS}`, undefined, { accept });
  assert.equal(body.kind, 'Table');
  assert.deepEqual(body.rows[0].cells.slice(0, 4), ['a', '0/1', 'CrashLoopBackOff', '2']);
  assert.equal(body.rows[0].object.kind, 'PartialObjectMetadata');
  const odd = await ask(`GET ${PODS}?watch=true&includeObject=x`, undefined, { accept });
  assert.equal(odd.status, 400, 'refused before the watch begins');
});

test('a full disk is a clear answer, and nothing changes', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  let isFull = false;
  const journal = { ...memoryJournal(), append: () => (isFull ? Promise.reject(full) : Promise.resolve()) };
  const { ask } = await createTestApi(journal);
  await ask(`POST ${MAPS}`, map('m', { a: '1' }));
  isFull = true;
  const { status, body } = await ask(`PATCH ${MAPS}/m merge`, { data: { a: '2' } });
  assert.deepEqual([status, body.reason], [507, 'InsufficientStorage']);
  assert.match(body.message, /the disk of the node is full \(ENOSPC\); nothing was changed/);
  assert.deepEqual((await ask(`GET ${MAPS}/m`)).body.data, { a: '1' });
  isFull = false;
  assert.equal((await ask(`PATCH ${MAPS}/m merge`, { data: { a: '3' } })).status, 200);
});

test('discovery names what there is, and OpenAPI what kubectl asks of it', async () => {
  const { ask } = await createTestApi();
  const core = (await ask('GET /api/v1')).body.resources.map(({ name }: { name: string }) => name);
  for (const name of ['pods', 'pods/exec', 'pods/log', 'configmaps', 'services']) assert.ok(core.includes(name), name);
  const { paths } = (await ask('GET /openapi/v3')).body;
  const [, { serverRelativeURL }] = Object.entries(paths).find(([path]) => path === 'api/v1') as [
    string,
    { serverRelativeURL: string },
  ];
  const { body } = await ask(`GET ${serverRelativeURL}`);
  const { patch } = body.paths['/api/v1/namespaces/{namespace}/pods/{name}'];
  assert.ok(patch.parameters.some(({ name }: { name: string }) => name === 'fieldValidation'));
  const { containers } = body.components.schemas['io.k8s.api.core.v1.Pod'].properties.spec.properties;
  assert.equal(containers['x-kubernetes-patch-merge-key'], 'name');
});

test('events go an hour after they were last seen', async () => {
  const { ask, store } = await createTestApi();
  const clock = createManualClock();
  const events = '/api/v1/namespaces/default/events';
  const event = (name: string, ago: number) => ({
    metadata: { name },
    involvedObject: { namespace: 'default' },
    lastTimestamp: new Date(clock.now() - ago * 60_000).toISOString().replace(/\.\d+/, ''),
  });
  for (const [name, ago] of [
    ['new', 10],
    ['old', 61],
  ] as const) {
    assert.equal((await ask(`POST ${events}`, event(name, ago))).status, 201);
  }
  const expiry = createEventExpiry({ clock, log: createSilentLogger(), store });
  await expiry.start(new AbortController().signal);
  await clock.advance(1000);
  assert.deepEqual(
    store.list('events', '').map(({ metadata }) => metadata.name),
    ['new'],
  );
  await clock.advance(3_600_000);
  assert.deepEqual(store.list('events', ''), []);
  await expiry.stop?.();
});
