/** Malformed requests to the local API, by a seeded generator: no answer is a 5xx, no request changes what it must not, and the API goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readProtobuf } from '../../src/local-api/rules/protobuf.ts';
import { Refusal } from '../../src/local-api/rules/refusal.ts';
import { createTestApi } from '../../src/local-api/testing.ts';

/** `REQUESTS=1000000 SEED=7` runs more and others. */
const REQUESTS = Number(process.env['REQUESTS'] ?? 4000);
const SEED = Number(process.env['SEED'] ?? 1611);

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels: { app: 'a' }, annotations: { x: 'y' } },
  spec: {
    containers: [{ name: 'main', image: 'i', env: [{ name: 'A', value: 'b' }], ports: [{ containerPort: 80 }] }],
    volumes: [{ name: 'v', configMap: { name: 'm' } }],
  },
};

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    '..',
    '__proto__',
    'constructor',
    -1,
    1e308,
    0.5,
    true,
    [],
    {},
    [null],
    [[]],
    '\u0000',
    '%2e',
    'é',
  ),
  fc.constantFrom<unknown>(
    { $patch: 'delete' },
    { $patch: 'x' },
    { $retainKeys: 1 },
    { '$deleteFromPrimitiveList/finalizers': 1 },
    { '$setElementOrder/containers': [1, {}] },
  ),
  fc.string({ maxLength: 20 }),
  fc.integer(),
);
const key = fc.constantFrom(
  ...[
    'metadata',
    'spec',
    'status',
    'name',
    'namespace',
    'labels',
    'annotations',
    'finalizers',
    'uid',
    'resourceVersion',
    'containers',
    'volumes',
    'env',
  ],
  ...[
    'managedFields',
    'data',
    'kind',
    'apiVersion',
    'gracePeriodSeconds',
    'preconditions',
    'dryRun',
    '__proto__',
    'op',
    'path',
    'value',
    'from',
    'tolerations',
  ],
);
const body = fc.oneof(
  fc.constant<unknown>(POD),
  // A good pod with one odd value somewhere.
  fc.tuple(fc.array(key, { minLength: 1, maxLength: 4 }), odd).map(([path, value]) => withValue(POD, path, value)),
  fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      odd,
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  })).tree,
  fc.array(
    fc.record({
      op: fc.constantFrom('add', 'remove', 'replace', 'test', 'move', 'copy', 'x'),
      path: fc.constantFrom(
        '',
        '/',
        '/metadata',
        '/spec/containers/0',
        '/spec/containers/-',
        '/a~1b',
        'x',
        '/metadata/labels/app',
      ),
      from: fc.constantFrom('', '/spec', '/metadata/labels'),
      value: odd,
    }),
    { maxLength: 4 },
  ),
  fc.constant(undefined),
);
const segment = fc.constantFrom(
  ...[
    'api',
    'apis',
    'v1',
    'namespaces',
    'default',
    'pods',
    'a',
    'configmaps',
    'secrets',
    'events',
    'nodes',
    'status',
    'log',
    'exec',
    'eviction',
    'ephemeralcontainers',
  ],
  ...[
    'apps',
    'deployments',
    'coordination.k8s.io',
    'leases',
    'kube-node-lease',
    'openapi',
    'v3',
    '',
    '..',
    '__proto__',
    'constructor',
    'é',
    'x'.repeat(300),
  ],
);
const path = fc.oneof(
  fc.constantFrom(
    '/api/v1/namespaces/default/pods',
    '/api/v1/namespaces/default/pods/a',
    '/api/v1/namespaces/default/pods/a/status',
    '/api/v1/namespaces/default/configmaps/a',
    '/api/v1/pods',
    '/api/v1/namespaces/n',
  ),
  fc.array(segment, { maxLength: 8 }).map((parts) => `/${parts.join('/')}`),
);
const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      'watch',
      'labelSelector',
      'fieldSelector',
      'resourceVersion',
      'dryRun',
      'fieldValidation',
      'fieldManager',
      'force',
      'gracePeriodSeconds',
      'timeoutSeconds',
      'includeObject',
      'sendInitialEvents',
    ),
    fc.constantFrom(
      '',
      'true',
      '1',
      '0',
      '-1',
      'x',
      'All',
      'Strict',
      'a in (b',
      '!',
      'a=b,c',
      'metadata.name=a',
      '=',
      '99999999999999999999',
      'a,,b',
      '((((',
      'metadata.name\\=a',
    ),
  ),
  { maxLength: 4 },
);
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'BREW'),
  path,
  query: query.map((pairs) => new URLSearchParams(pairs)),
  body,
  type: fc.constantFrom(
    'application/json',
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
    'x/y',
  ),
  accept: fc.constantFrom('', 'application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'),
  caller: fc.constantFrom(
    { name: 'full', groups: [], role: 'full' } as const,
    { name: 'reader', groups: [], role: 'read-only' } as const,
  ),
});

function withValue(target: unknown, [step, ...rest]: readonly string[], value: unknown): unknown {
  if (step === undefined) return value;
  const fields = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  return { ...fields, [step]: withValue((fields as Record<string, unknown>)[step], rest, value) };
}

test('no request to the local API is answered with a 5xx, and a reader changes nothing', async () => {
  const { api, ask, store } = await createTestApi();
  await ask('POST /api/v1/namespaces/default/pods', POD);
  await fc.assert(
    fc.asyncProperty(request, async (one) => {
      const before = store.revision();
      const answer = await api.handle(one);
      const text = `${one.method} ${one.path}?${one.query} ${JSON.stringify(one.body)}`;
      if (answer.kind === 'answer')
        assert.ok(answer.status < 500, `${text}: ${answer.status} ${JSON.stringify(answer.body)}`);
      if (answer.kind === 'answer' && answer.status >= 400)
        assert.equal((answer.body as { kind?: string }).kind, 'Status', text);
      if (answer.kind === 'watch') answer.events.follow(() => undefined)();
      if (one.caller.role === 'read-only') assert.equal(store.revision(), before, text);
      // What is kept can be written and shown.
      for (const object of store.list('pods', '')) JSON.stringify(object);
      assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    }),
    { numRuns: REQUESTS, seed: SEED },
  );
  assert.equal((await ask('GET /api/v1/namespaces/default')).status, 200, 'it goes on');
});

test('protobuf of any bytes is read or refused', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    fc.uint8Array({ maxLength: 64 }).map((rest) => Uint8Array.from([0x6b, 0x38, 0x73, 0, ...rest])),
  );
  fc.assert(
    fc.property(bytes, (one) => {
      try {
        readProtobuf(one);
      } catch (error) {
        assert.ok(error instanceof Refusal, String(error));
      }
    }),
    { numRuns: REQUESTS, seed: SEED },
  );
});
