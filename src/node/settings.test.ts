import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeNode } from '../api/node.ts';
import type { Config } from '../config/config.ts';
import type { NodeIdentity } from './rules/initial-node.ts';
import { nodeIpsOf, nodeNameOf, nodeTraits } from './settings.ts';

const settings = (hostnameOverride: string) => ({ settings: { node: { hostnameOverride } } }) as unknown as Config;

test('the name of the node is that of the flag, else that of the host, in lower case', () => {
  assert.equal(nodeNameOf(settings(''), 'Web-1 '), 'web-1');
  assert.equal(nodeNameOf(settings(' Edge'), 'web-1'), 'edge');
});

const identity = {
  name: 'n',
  hostname: 'n',
  architecture: 'amd64',
  labels: { zone: 'a' },
  taints: [{ key: 'own', effect: 'NoSchedule' }],
} as unknown as NodeIdentity;

test('pods are admitted with the labels and taints at the API server as soon as it has the node', () => {
  const alone = nodeTraits(identity, undefined);
  assert.equal(alone.labels['zone'], 'a');
  assert.deepEqual(alone.taints, identity.taints);
  const node = { metadata: { name: 'n', uid: 'u', labels: { zone: 'b' } } } as KubeNode;
  assert.deepEqual(nodeTraits(identity, node), { labels: { zone: 'b' }, taints: [] });
});

test('addresses at the API server override those of the machine', () => {
  let node: KubeNode | undefined;
  const ips = nodeIpsOf({ internalIps: () => ['10.0.0.1'] }, () => node);
  assert.deepEqual(ips(), ['10.0.0.1']);
  node = {
    metadata: { name: 'n', uid: 'u' },
    status: { addresses: [{ type: 'InternalIP', address: '10.9.9.9' }] },
  } as KubeNode;
  assert.deepEqual(ips(), ['10.9.9.9']);
});
