import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeNode, NodeStatus } from '../../api/node.ts';
import { computeNodePatch, nodeHasChanged } from './node-patch.ts';

const ready = (heartbeat: string, status: 'True' | 'False' = 'True') => ({
  type: 'Ready',
  status,
  lastHeartbeatTime: heartbeat,
  lastTransitionTime: 't0',
});
const node = (status: NodeStatus = {}, metadata: Partial<KubeNode['metadata']> = {}): KubeNode => ({
  metadata: { name: 'n', uid: 'u', ...metadata },
  status,
});
const ip = (address: string) => ({ type: 'InternalIP', address });

const CASES: readonly [string, KubeNode, KubeNode, unknown][] = [
  ['nothing', node({ capacity: { cpu: '2' } }), node({ capacity: { cpu: '2' } }), undefined],
  [
    'labels, of which one goes',
    node({}, { labels: { a: '1', b: '2' } }),
    node({}, { labels: { a: '1', c: '3' } }),
    { metadata: { labels: { b: null, c: '3' } } },
  ],
  [
    'resources, of which one goes',
    node({ capacity: { cpu: '2', 'hugepages-1Gi': '0' } }),
    node({ capacity: { cpu: '4' } }),
    { status: { capacity: { cpu: '4', 'hugepages-1Gi': null } } },
  ],
  [
    'conditions, by their type',
    node({ conditions: [{ type: 'Other', status: 'True' }, ready('t1')] }),
    node({ conditions: [{ type: 'Other', status: 'True' }, ready('t2', 'False')] }),
    {
      status: {
        '$setElementOrder/conditions': [{ type: 'Other' }, { type: 'Ready' }],
        conditions: [{ type: 'Ready', status: 'False', lastHeartbeatTime: 't2' }],
      },
    },
  ],
  ['first addresses', node(), node({ addresses: [ip('192.0.2.1')] }), { status: { addresses: [ip('192.0.2.1')] } }],
  [
    'other addresses: the whole list',
    node({ addresses: [ip('192.0.2.1')] }),
    node({ addresses: [ip('192.0.2.2'), ip('2001:db8::2')] }),
    { status: { addresses: [ip('192.0.2.2'), ip('2001:db8::2'), { $patch: 'replace' }] } },
  ],
  [
    'lists as a whole, and one that is empty now',
    node({ images: [{ names: ['a'] }], volumesInUse: ['v'] }),
    node({ images: [{ names: ['b'] }] }),
    { status: { images: [{ names: ['b'] }], volumesInUse: null } },
  ],
  [
    'one field of the node info',
    node({ nodeInfo: { bootID: '1', machineID: 'm' } as NodeStatus['nodeInfo'] & object }),
    node({ nodeInfo: { bootID: '2', machineID: 'm' } as NodeStatus['nodeInfo'] & object }),
    { status: { nodeInfo: { bootID: '2' } } },
  ],
];

describe('a patch has', () => {
  for (const [name, before, after, want] of CASES) {
    it(name, () => {
      assert.deepEqual(computeNodePatch(before, after), want);
      assert.equal(nodeHasChanged(before, after), want !== undefined);
    });
  }
  it('heartbeats, which do not count as a change', () => {
    const before = node({ conditions: [ready('t1')] });
    const after = node({ conditions: [ready('t2')] });
    assert.equal(nodeHasChanged(before, after), false);
    assert.deepEqual(computeNodePatch(before, after), {
      status: {
        '$setElementOrder/conditions': [{ type: 'Ready' }],
        conditions: [{ type: 'Ready', lastHeartbeatTime: 't2' }],
      },
    });
  });
  it('no field of the status that others own', () => {
    const attached = { volumesAttached: [{ name: 'v', devicePath: '/dev/x' }] };
    assert.equal(computeNodePatch(node(attached), node({ ...attached })), undefined);
  });
});
