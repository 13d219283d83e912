import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeNode } from '../../api/node.ts';
import { initialNode, type NodeIdentity } from './initial-node.ts';
import { reconcileNode } from './reconcile.ts';

const identity: NodeIdentity = {
  name: 'web',
  hostname: 'web',
  architecture: 'amd64',
  labels: {},
  taints: [],
  externalCloud: false,
  providerId: '',
  controllerAttaches: true,
};
const resources = { cpu: '2', 'hugepages-2Mi': '0' };
const initial = (change: Partial<NodeIdentity> = {}): KubeNode => ({
  ...initialNode({ ...identity, ...change }),
  status: { capacity: resources, allocatable: resources },
});
const existing = (change: Partial<KubeNode> = {}): KubeNode => ({
  metadata: { name: 'web', uid: 'u', labels: { mark: 'x' }, annotations: { note: 'y' } },
  ...change,
});
const keep = { resetExtended: false };

describe('a new node object', () => {
  it('has the default labels, which the flag may override', () => {
    const { metadata } = initial({ labels: { 'kubernetes.io/hostname': 'other', zone: 'a' } });
    assert.deepEqual(metadata.labels, {
      'kubernetes.io/hostname': 'other',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'beta.kubernetes.io/os': 'linux',
      'beta.kubernetes.io/arch': 'amd64',
      zone: 'a',
    });
  });
  it('has the configured taints, and that of an uninitialized cloud node', () => {
    const { spec } = initial({
      taints: [
        { key: 'a', value: 'b', effect: 'NoExecute' },
        { key: 'c', value: '', effect: 'NoSchedule' },
      ],
      externalCloud: true,
      providerId: 'cloud://1',
    });
    assert.deepEqual(spec, {
      taints: [
        { key: 'a', value: 'b', effect: 'NoExecute' },
        { key: 'c', effect: 'NoSchedule' },
        { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
      ],
      providerID: 'cloud://1',
    });
  });
  it('has no annotation if the kubelet attaches volumes itself', () => {
    assert.equal(initial({ controllerAttaches: false }).metadata.annotations, undefined);
  });
});

describe('an existing node object', () => {
  it('gets the labels of the machine, and keeps all others', () => {
    const before = existing({
      metadata: { name: 'web', uid: 'u', labels: { 'kubernetes.io/arch': 'arm64', mark: 'x', old: 'flag' } },
    });
    const { labels } = reconcileNode(before, initial({ labels: { own: '1' } }), keep).metadata;
    assert.equal(labels?.['kubernetes.io/arch'], 'amd64');
    assert.equal(labels?.['mark'], 'x');
    assert.equal(labels?.['old'], 'flag');
    assert.equal(labels?.['own'], undefined, 'labels of the flag are set only when a node is made');
  });
  it('gets the annotation about attaching volumes, or loses it', () => {
    const name = 'volumes.kubernetes.io/controller-managed-attach-detach';
    const on = reconcileNode(existing(), initial(), keep);
    assert.deepEqual(on.metadata.annotations, { note: 'y', [name]: 'true' });
    const off = reconcileNode(on, initial({ controllerAttaches: false }), keep);
    assert.deepEqual(off.metadata.annotations, { note: 'y' });
  });
  it('without resources gets all of them', () => {
    assert.deepEqual(reconcileNode(existing(), initial(), keep).status?.capacity, resources);
  });
  it('loses page sizes that no longer exist, and gets new ones', () => {
    const before = existing({ status: { capacity: { cpu: '1', 'hugepages-1Gi': '0' }, allocatable: { cpu: '1' } } });
    assert.deepEqual(reconcileNode(before, initial(), keep).status, {
      capacity: { cpu: '1', 'hugepages-2Mi': '0' },
      allocatable: { cpu: '1', 'hugepages-2Mi': '0' },
    });
  });
  for (const [resetExtended, left] of [
    [true, '0'],
    [false, '4'],
  ] as const) {
    it(`${resetExtended ? 'loses' : 'keeps'} extended resources on ${resetExtended ? 'another' : 'the same'} machine`, () => {
      const counted = { cpu: '2', 'example.com/gpu': '4', 'hugepages-2Mi': '0' };
      const before = existing({ status: { capacity: counted, allocatable: counted } });
      const { capacity, allocatable } = reconcileNode(before, initial(), { resetExtended }).status ?? {};
      assert.equal(capacity?.['example.com/gpu'], left);
      assert.equal(allocatable?.['example.com/gpu'], left);
      assert.equal(capacity?.['cpu'], '2');
    });
  }
});
