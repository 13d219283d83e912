import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeNode, NodeSystemInfo } from '../../api/node.ts';
import { type Lease, renewedLease } from './lease.ts';
import { findClockSkew, findTwinByLease, findTwinByStatus, findWrongUser } from './suspicions.ts';

const own = { machineID: 'm', systemUUID: 's', bootID: 'b' };
const withInfo = (info: Partial<NodeSystemInfo>): KubeNode => ({
  metadata: { name: 'web', uid: 'u' },
  status: { nodeInfo: { ...own, ...info } as NodeSystemInfo },
});

describe('another kubelet of the same name', () => {
  const cases: readonly [string, KubeNode, RegExp | undefined][] = [
    ['is not there', withInfo({}), undefined],
    ['is not there without a status', { metadata: { name: 'web', uid: 'u' } }, undefined],
    ['is not there in a node that was just made', withInfo({ bootID: '' }), undefined],
    [
      'has another boot id',
      withInfo({ bootID: 'x' }),
      /another kubelet writes the status of node "web".*boot id x.*--hostname-override/,
    ],
    ['has another machine id', withInfo({ machineID: 'x' }), /machine id x/],
    [
      'has an address',
      {
        metadata: { name: 'web', uid: 'u' },
        status: {
          nodeInfo: { ...own, bootID: 'x' } as NodeSystemInfo,
          addresses: [
            { type: 'InternalIP', address: '192.0.2.7' },
            { type: 'Hostname', address: 'web' },
          ],
        },
      },
      /boot id x, at 192\.0\.2\.7; here m and b/,
    ],
  ];
  for (const [name, node, want] of cases) {
    it(name, () => {
      const found = findTwinByStatus(node, own);
      if (want === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', want);
    });
  }
  it('renews the lease', () => {
    const lease = { metadata: { name: 'web', namespace: 'n' }, spec: { renewTime: 't2', holderIdentity: 'web' } };
    assert.equal(findTwinByLease(lease, []), undefined, 'before our first renewal it is our predecessor');
    assert.equal(findTwinByLease(lease, ['t1', 't2']), undefined);
    assert.match(findTwinByLease(lease, ['t1']) ?? '', /another kubelet renews the lease of node "web".*at t2.*t1/);
  });
});

describe('clocks', () => {
  for (const [skew, want] of [
    [0, undefined],
    [4999, undefined],
    [-4999, undefined],
    [90_000, /1m30s ahead of the API server's/],
    [-3_600_000, /1h0m0s behind the API server's/],
  ] as const) {
    it(`that differ by ${skew} ms`, () => {
      const found = findClockSkew({ serverAt: 1e12, ownAt: 1e12 + skew });
      if (want === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', want);
    });
  }
});

describe('credentials', () => {
  for (const [user, want] of [
    ['system:node:web', undefined],
    ['system:node:old', /are those of node "old".*name is "web".*--hostname-override/],
    ['admin', /are not those of a node \(user "admin"\)/],
  ] as const) {
    it(`of ${user}`, () => {
      const found = findWrongUser(user, 'web');
      if (want === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', want);
    });
  }
});

describe('a lease', () => {
  const request = { nodeName: 'web', nodeUid: 'u', durationSeconds: 40, now: Date.parse('2026-11-15T10:13:18.012Z') };
  it('is created for its node', () => {
    assert.deepEqual(renewedLease(undefined, request), {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'web',
        namespace: 'kube-node-lease',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'web', uid: 'u' }],
      },
      spec: { holderIdentity: 'web', leaseDurationSeconds: 40, renewTime: '2026-11-15T10:13:18.012000Z' },
    });
  });
  it('keeps the fields of others, and gets the UID of a node that was created again', () => {
    const base: Lease = {
      metadata: {
        name: 'web',
        namespace: 'kube-node-lease',
        resourceVersion: '7',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'web', uid: 'old' }],
      },
      spec: { holderIdentity: 'somebody', leaseDurationSeconds: 10, renewTime: 'x' },
    };
    const renewed = renewedLease(base, request);
    assert.equal(renewed.metadata.resourceVersion, '7');
    assert.deepEqual(
      renewed.metadata.ownerReferences?.map(({ uid }) => uid),
      ['u'],
    );
    assert.deepEqual(renewed.spec, {
      holderIdentity: 'somebody',
      leaseDurationSeconds: 40,
      renewTime: '2026-11-15T10:13:18.012000Z',
    });
  });
});
