/** What the reference registered on a recorded machine, field by field, against what ours computes from the same facts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { KubeNode } from '../api/node.ts';
import { parseQuantity, type Quantity } from '../api/quantity.ts';
import type { Image } from '../wire/gen/cri-runtime-v1.ts';
import { computeNode, type NodeSnapshot } from './rules/compute-node.ts';
import { initialNode } from './rules/initial-node.ts';
import { type Lease, renewedLease } from './rules/lease.ts';

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8'));
const recorded: KubeNode = read('node.json');
const lease: Lease = read('lease.json');
const registeredAt = Date.parse(recorded.metadata.creationTimestamp ?? '');

const quantities = (texts: Readonly<Record<string, string>>): ReadonlyMap<string, Quantity> =>
  new Map(
    Object.entries(texts).map(([name, text]) => {
      const quantity = parseQuantity(text);
      assert.ok(quantity.ok);
      return [name, quantity.value];
    }),
  );

const image = (id: string, size: bigint, repoTags: readonly string[]): Image =>
  ({ id, size, repoTags, repoDigests: [] }) as unknown as Image;

const handlerFeatures = { recursiveReadOnlyMounts: true, userNamespaces: true };
/** In another order than they are told in. */
const IMAGES = (recorded.status?.images ?? [])
  .map(({ names = [], sizeBytes = 0 }, index) => image(`sha256:${index}`, BigInt(sizeBytes), names))
  .toReversed();

const snapshot: NodeSnapshot = {
  now: registeredAt,
  addresses: {
    nodeName: 'labnode',
    hostname: 'labnode',
    flagIps: [],
    named: [],
    interfaces: [
      { name: 'lo', up: true, loopback: true, addresses: ['127.0.0.1', '::1'] },
      { name: 'node0', up: true, loopback: false, addresses: ['192.0.2.10', 'fe80::1'] },
    ],
    routes: [{ family: 4, interface: 'node0' }],
    externalCloud: false,
  },
  machine: {
    machineId: '3d1219c7c4c5404aaa1f6d2a48adfda4',
    systemUuid: '3d1219c7c4c5404aaa1f6d2a48adfda4',
    bootId: '1a62832e-94a4-4ef9-9810-69e65c673ae7',
    kernelVersion: '6.18.44-fc-v490',
    osImage: 'Debian GNU/Linux 12 (bookworm)',
    architecture: 'amd64',
    swap: 0,
  },
  capacity: new Map([...quantities(recorded.status?.capacity ?? {}), ...quantities({ pid: '32768' })]),
  allocatable: quantities(recorded.status?.allocatable ?? {}),
  kubeletVersion: 'v1.36.4',
  kubeletPort: 10250,
  runtime: { name: 'containerd', version: 'v2.4.2' },
  handlers: [
    { name: 'runc', features: handlerFeatures },
    { name: '', features: handlerFeatures },
  ],
  features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false },
  images: IMAGES,
  mostImages: 50,
  pressure: { memory: false, disk: false, pid: false },
  otherConditions: [],
  readiness: {
    runtime: { lastReadyAt: 0, runtimeProblem: undefined, networkProblem: undefined },
    mono: 1,
    partProblems: [],
    storageProblem: undefined,
    shutdownProblem: undefined,
    localStorage: true,
  },
  volumesInUse: [],
  declaredFeatures: recorded.status?.declaredFeatures,
};

const computed = computeNode(
  initialNode({
    name: 'labnode',
    hostname: 'labnode',
    architecture: 'amd64',
    labels: {},
    taints: [],
    externalCloud: false,
    providerId: '',
    controllerAttaches: true,
  }),
  snapshot,
);

/** Why a field of the recording is not ours to make. */
const NOT_OURS: Readonly<Record<string, string>> = {
  'metadata.creationTimestamp': 'the API server sets it',
  'metadata.resourceVersion': 'the API server sets it',
  'metadata.uid': 'the API server sets it',
  'metadata.annotations.node.alpha.kubernetes.io/ttl': 'the node controller sets it',
};
/** The recording was made some minutes after the registration. */
const HEARTBEAT = /^status\.conditions\.\d\.lastHeartbeatTime$/;

function flatten(value: unknown, path: string): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  const entries = Object.entries(value).flatMap(([key, inner]) => flatten(inner, path === '' ? key : `${path}.${key}`));
  return entries.length === 0 ? [[path, '(empty)']] : entries;
}

describe('the recorded node', () => {
  const ours = new Map(flatten(computed.node, ''));
  const theirs = new Map(flatten(recorded, ''));
  for (const [path, value] of theirs) {
    if (Object.hasOwn(NOT_OURS, path) || HEARTBEAT.test(path)) continue;
    it(`has the same ${path}`, () => assert.deepEqual(ours.get(path), value));
  }
  it('has all fields that ours has', () => {
    const more = [...ours.keys()].filter((path) => !theirs.has(path) && !Object.hasOwn(NOT_OURS, path));
    assert.deepEqual(more, []);
  });
  it('has the events of a starting node', () => {
    const lines = readFileSync(join(import.meta.dirname, 'testdata', 'node-events.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const told = lines.map((line) => JSON.parse(line) as { reason: string; message: string; type: string });
    for (const { type, reason, message } of computed.events) {
      assert.deepEqual(
        told.filter((event) => event.reason === reason).map((event) => [event.type, event.message]),
        [[type, message]],
      );
    }
    assert.equal(computed.events.length, 3);
  });
});

it('the recorded lease is the one that we would write at that time', () => {
  const now = Date.parse(lease.spec?.renewTime ?? '');
  const ours = renewedLease(undefined, {
    nodeName: 'labnode',
    nodeUid: recorded.metadata.uid,
    durationSeconds: 40,
    now,
  });
  const {
    creationTimestamp: _c,
    resourceVersion: _r,
    uid: _u,
    ...metadata
  } = lease.metadata as Record<string, unknown>;
  assert.deepEqual(ours.metadata, metadata);
  // Our clock counts in milliseconds.
  assert.deepEqual(ours.spec, { ...lease.spec, renewTime: '2026-11-15T10:13:18.012000Z' });
});
