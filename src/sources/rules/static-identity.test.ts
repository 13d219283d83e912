import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import { applyPodDefaults } from '../../api/pod-defaults.ts';
import { giveStaticIdentity, type StaticOrigin } from './static-identity.ts';

const origin: StaticOrigin = {
  source: 'file',
  nodeName: 'node1',
  hash: (text) => createHash('sha256').update(text).digest('hex'),
};

const pod = (more: { metadata?: Partial<Pod['metadata']>; spec?: Partial<Pod['spec']> } = {}): Pod => ({
  metadata: { name: 'web', namespace: '', uid: '', ...more.metadata },
  spec: { containers: [{ name: 'c', image: 'x:1' }], ...more.spec },
});

const uidOf = (one: Pod, from: StaticOrigin = origin) => giveStaticIdentity(one, from).metadata.uid;

test('static identity: the same content is the same pod, in whatever order it is written', () => {
  const uid = uidOf(pod({ spec: { hostname: 'a', subdomain: 'b' } }));
  assert.match(uid, /^[0-9a-f]{32}$/);
  assert.equal(uidOf(pod({ spec: { subdomain: 'b', hostname: 'a' } })), uid);
});

for (const [what, other] of Object.entries({
  'its name': pod({ metadata: { name: 'db' } }),
  'its namespace': pod({ metadata: { namespace: 'kube-system' } }),
  'a label': pod({ metadata: { labels: { a: 'b' } } }),
  'an image': pod({ spec: { containers: [{ name: 'c', image: 'x:2' }] } }),
  'the order of containers': pod({
    spec: {
      containers: [
        { name: 'd', image: 'x:1' },
        { name: 'c', image: 'x:1' },
      ],
    },
  }),
})) {
  test(`static identity: ${what} makes another pod`, () => assert.notEqual(uidOf(other), uidOf(pod())));
}

test('static identity: another node or another source makes another pod', () => {
  const uids = [origin, { ...origin, nodeName: 'node2' }, { ...origin, source: 'http' } as const].map((from) =>
    uidOf(pod(), from),
  );
  assert.equal(new Set(uids).size, 3);
});

test('static identity: a UID that is written stays', () => {
  assert.equal(uidOf(pod({ metadata: { uid: 'mine' } })), 'mine');
});

test('static identity: the name carries the name of the node in lower case', () => {
  assert.equal(giveStaticIdentity(pod(), { ...origin, nodeName: 'Node1' }).metadata.name, 'web-node1');
});

for (const { name, before, after } of [
  { name: 'none', before: undefined, after: [{ operator: 'Exists', effect: 'NoExecute' }] },
  {
    name: 'others',
    before: [{ key: 'a', operator: 'Exists' }],
    after: [
      { key: 'a', operator: 'Exists' },
      { operator: 'Exists', effect: 'NoExecute' },
    ],
  },
  {
    name: 'one with a time limit',
    before: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
    after: [{ operator: 'Exists', effect: 'NoExecute' }],
  },
  {
    name: 'the same for one key only',
    before: [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }],
    after: [
      { key: 'a', operator: 'Exists', effect: 'NoExecute' },
      { operator: 'Exists', effect: 'NoExecute' },
    ],
  },
] as const) {
  test(`static identity: tolerations with ${name} before`, () => {
    const given = giveStaticIdentity(pod({ spec: before === undefined ? {} : { tolerations: before } }), origin);
    assert.deepEqual(given.spec.tolerations, after);
  });
}

for (const { spec, priority } of [
  { spec: {}, priority: undefined },
  { spec: { priorityClassName: 'system-node-critical' }, priority: 2_000_001_000 },
  { spec: { priorityClassName: 'system-cluster-critical' }, priority: 2_000_000_000 },
  { spec: { priorityClassName: 'system-node-critical', priority: 7 }, priority: 7 },
  { spec: { priorityClassName: 'mine' }, priority: undefined },
]) {
  test(`static identity: priority of ${JSON.stringify(spec)}`, () => {
    assert.equal(giveStaticIdentity(pod({ spec }), origin).spec.priority, priority);
  });
}

test('static identity: as the reference shows it in its mirror pod', () => {
  const recorded = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../tests/recorded/mirror-pod.json'), 'utf8'),
  ) as Pod;
  const written: Pod = {
    metadata: { name: 'static-web', namespace: '', uid: '', labels: { app: 's' } },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'registry.k8s.io/e2e-test-images/busybox:1.37.0-1',
          command: ['sh', '-c', 'while :; do sleep 1000; done'],
          resources: { requests: { cpu: '10m' } },
        },
      ],
    },
  };
  const ours = applyPodDefaults(giveStaticIdentity(written, { ...origin, nodeName: 'labnode' }));
  // Priority and preemption are filled in by the API server, which alone knows the classes.
  const { priority: _, preemptionPolicy: __, ...spec } = recorded.spec;
  assert.deepEqual(ours.spec, spec);
  assert.equal(ours.metadata.name, recorded.metadata.name);
  assert.equal(ours.metadata.namespace, recorded.metadata.namespace);
  assert.match(recorded.metadata.annotations?.['kubernetes.io/config.hash'] ?? '', /^[0-9a-f]{32}$/);
});
