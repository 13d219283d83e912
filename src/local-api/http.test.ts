import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '../base/errors.ts';
import { createManualClock } from '../base/manual-clock.ts';
import type { Answer, Exchange, Route } from '../server/routes.ts';
import { type HttpDeps, localApiRoutes } from './http.ts';
import { FULL_USER, READING_USER } from './rules/roles.ts';
import { createTestApi } from './testing.ts';

interface Sent {
  readonly path?: string;
  readonly query?: string;
  readonly body?: Buffer | string | Error;
  readonly type?: string;
  readonly user?: Exchange['user'];
}

async function open(endpoints: readonly Route[] = []) {
  const { api, store, ask } = await createTestApi();
  let body: Sent['body'] = '';
  const readBytes: HttpDeps['readBytes'] = () =>
    body instanceof Error ? Promise.reject(body) : Promise.resolve(Buffer.from(body ?? ''));
  const explain: HttpDeps['explain'] = (namespace, name) =>
    Promise.resolve(
      name === 'a' ? { pod: { uid: 'u', namespace, name }, step: 'syncing', steps: [], summary: 'x' } : undefined,
    );
  const usage = (nanos: number) => ({
    cpu: { usageNanoCores: nanos },
    memory: { time: '2026-01-01T00:00:00Z', workingSetBytes: 2_000_000 },
  });
  const summary = () =>
    Promise.resolve({
      node: usage(5),
      pods: [{ podRef: { namespace: 'default', name: 'a' }, containers: [{ name: 'main', ...usage(7) }] }],
    });
  const routes = localApiRoutes({
    clock: createManualClock(),
    api,
    store,
    endpoints,
    explain,
    readBytes,
    summary,
    metrics: { render: () => 'm' },
  });
  const send = async (
    name: string,
    method: string,
    sent: Sent,
    parameters: Exchange['parameters'] = {},
  ): Promise<Answer & { json: unknown }> => {
    body = sent.body;
    let got: Answer = { status: 0 };
    const route = routes.find((one) => one.name === name);
    const exchange = {
      request: { method, headers: { 'content-type': sent.type ?? 'application/json' } },
      path: sent.path ?? '',
      parameters,
      query: new URLSearchParams(sent.query),
      user: sent.user ?? FULL_USER,
      response: { destroyed: false },
      answer: (answer: Answer) => {
        got = answer;
      },
    };
    await route?.handle(exchange as unknown as Exchange);
    return { ...got, json: typeof got.body === 'string' ? JSON.parse(got.body) : undefined };
  };
  return { send, ask };
}

const MAPS = '/api/v1/namespaces/default/configmaps';

test('bodies: JSON, YAML and protobuf are the same object; what is none of them is refused', async () => {
  const { send } = await open();
  const field = (number: number, content: Buffer) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
  const text = (number: number, value: string) => field(number, Buffer.from(value));
  const object = Buffer.concat([field(1, text(1, 'c')), field(2, Buffer.concat([text(1, 'k'), text(2, 'v')]))]);
  const type = field(1, Buffer.concat([text(1, 'v1'), text(2, 'ConfigMap')]));
  const protobuf = Buffer.concat([Buffer.from('k8s\0'), type, field(2, object)]);
  const sent: readonly Sent[] = [
    { body: '{"metadata":{"name":"a"},"data":{"k":"v"}}' },
    { body: 'metadata: {name: b}\ndata: {k: v}\n', type: 'application/yaml' },
    { body: protobuf, type: 'application/vnd.kubernetes.protobuf' },
  ];
  for (const one of sent) {
    const { status, json } = await send('local API', 'POST', { path: MAPS, ...one });
    assert.deepEqual([status, (json as { data: object }).data], [201, { k: 'v' }]);
  }
  for (const [body, contentType, status] of [
    ['{', 'application/json', 400],
    ['a: [', 'application/yaml', 400],
    [`a: ${'x'.repeat(300_000)}\n`, 'application/yaml', 413],
    ['nonsense', 'application/vnd.kubernetes.protobuf', 400],
    [new CodedError('exhausted', 'too long'), 'application/json', 413],
  ] as const) {
    const { status: got, json } = await send('local API', 'POST', { path: MAPS, body, type: contentType });
    assert.deepEqual([got, (json as { kind: string }).kind], [status, 'Status'], String(body).slice(0, 40));
  }
});

test('unknown fields are warnings in one line of plain characters', async () => {
  const { send } = await open();
  const { headers } = await send('local API', 'POST', { path: MAPS, body: '{"metadata":{"name":"w"},"é\\n\\"x":1}' });
  assert.match(headers?.['Warning'] ?? '', /^299 - "unknown field [\x20-\x7e]*"$/);
});

test('streams: the container is chosen, the query is the endpoint’s own, and a reader does not enter', async () => {
  const seen: string[] = [];
  const endpoint = (name: string): Route => ({
    ...{
      name,
      methods: ['GET'],
      pattern: '/',
      access: { subresource: 'proxy', verb: 'method' },
      port: 'secure',
      switch: 'always',
    },
    handle: ({ parameters, query }) => void seen.push(`${name} ${Object.values(parameters).join('/')} ${query}`),
  });
  const { send, ask } = await open(['exec', 'portForward', 'containerLogs'].map(endpoint));
  const containers = [
    { name: 'one', image: 'i' },
    { name: 'two', image: 'i' },
  ];
  await ask('POST /api/v1/namespaces/default/pods', { metadata: { name: 'a' }, spec: { containers } });
  const pod = { namespace: 'default', pod: 'a' };
  await send('local API exec', 'POST', { query: 'container=two&command=ls&command=-l&stdout=true&tty=false' }, pod);
  await send('local API portforward', 'POST', {}, pod);
  await send('local API log', 'GET', { query: 'container=one&follow=true', user: READING_USER }, pod);
  assert.deepEqual(seen, [
    'exec default/a/two output=1&command=ls&command=-l',
    'portForward default/a ',
    'containerLogs default/a/one container=one&follow=true',
  ]);
  for (const [query, user, where, status, text] of [
    ['', FULL_USER, pod, 400, /a container name must be specified for pod a, choose one of: \[one two\]/],
    ['container=x', FULL_USER, pod, 400, /container x is not valid for pod a/],
    ['container=one', READING_USER, pod, 403, /cannot create resource "pods\/exec"/],
    ['container=one', FULL_USER, { ...pod, pod: 'b' }, 404, /pods "b" not found/],
  ] as const) {
    const answer = await send('local API exec', 'POST', { query, user }, where);
    assert.equal(answer.status, status);
    assert.match((answer.json as { message: string }).message, text);
  }
  assert.equal(seen.length, 3);
});

test('explanations are for both roles', async () => {
  const { send } = await open();
  const found = await send('local API explain', 'GET', { user: READING_USER }, { namespace: 'default', pod: 'a' });
  assert.deepEqual([found.status, (found.json as { step: string }).step], [200, 'syncing']);
  assert.equal((await send('local API explain', 'GET', {}, { namespace: 'default', pod: 'b' })).status, 404);
});

test('usage: nodes and pods of metrics.k8s.io, as kubectl top asks for them', async () => {
  const { send, ask } = await open();
  for (const name of ['a', 'b'])
    await ask('POST /api/v1/namespaces/default/pods', {
      metadata: { name, labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'i' }] },
    });
  const get = (path: string, query = '') =>
    send('local API', 'GET', { path: `/apis/metrics.k8s.io/v1beta1${path}`, query });
  const container = { name: 'main', usage: { cpu: '7n', memory: '1953Ki' } };
  for (const path of ['/pods', '/namespaces/default/pods']) {
    const { kind, items } = (await get(path)).json as { kind: string; items: { containers: unknown }[] };
    assert.deepEqual([kind, items.map((item) => item.containers)], ['PodMetricsList', [[container]]]);
  }
  assert.deepEqual(((await get('/pods', 'labelSelector=app%3Db')).json as { items: unknown[] }).items, []);
  assert.equal((await get('/namespaces/default/pods/a')).status, 200);
  assert.equal((await get('/namespaces/default/pods/b')).status, 503, 'no reading yet');
  assert.equal((await get('/namespaces/default/pods/c')).status, 404);
  assert.equal((await get('/nodes/none')).status, 404);
  assert.equal((await get('/others')).status, 404);
  assert.equal((await get('/nodes', 'watch=1')).status, 405);
});

test('manifests: one or many in one POST, each is answered, and a GET lists them', async () => {
  const { send } = await open();
  const post = async (body: string, user = FULL_USER as Exchange['user']) =>
    await send('local API manifests', 'POST', { path: '/pods', body, type: 'text/plain', user });
  const pod = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'main', image: 'i' }] },
  });
  const results = ({ json }: { json: unknown }) =>
    (json as { items: { name: string; result: string }[] }).items.map(({ name, result }) => `${name} ${result}`);
  assert.deepEqual(results(await post(JSON.stringify(pod('a')))), ['a created']);
  const podText = (name: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: main\n    image: i\n`;
  const yaml = `${podText('a')}---\n${podText('b')}--- # and one for a control plane\napiVersion: v1\nkind: Service\nmetadata: { name: s }\n`;
  const many = await post(yaml);
  assert.deepEqual([many.status, results(many)], [422, ['a unchanged', 'b created', 's refused']]);
  const list = { kind: 'PodList', apiVersion: 'v1', items: [{ ...pod('c'), kind: undefined }, pod('Bad')] };
  const listed = await post(JSON.stringify(list));
  assert.deepEqual(results(listed), ['c created', 'Bad refused']);
  assert.match(JSON.stringify(listed.json), /metadata.name: Invalid value/);
  const shown = await send('local API manifests', 'GET', { path: '/pods' });
  const { items } = shown.json as { items: { metadata: { name: string } }[] };
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(results(await post(JSON.stringify(pod('d')), READING_USER)), ['d refused'], 'a reader only reads');
  for (const body of ['', '[]', ': :\n:', '[', JSON.stringify(Array.from({ length: 501 }, () => pod('x')))])
    assert.equal((await post(body)).status, 400, body.slice(0, 20));
});
