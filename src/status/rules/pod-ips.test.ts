import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePod, makeSandbox, observe } from '../../../tests/plan/builders.ts';
import { statusInput } from '../../../tests/plan/status-builders.ts';
import type { PodStatus } from '../../api/pod-status.ts';
import type { ObservedSandbox } from '../../model/observation.ts';
import { computeAddresses } from './pod-ips.ts';

interface Case {
  readonly name: string;
  readonly hostNetwork?: boolean;
  readonly sandboxes?: readonly ObservedSandbox[];
  readonly nodeIps?: readonly string[];
  readonly previous?: PodStatus;
  readonly step?: 'syncing' | 'terminating';
  readonly pod: readonly string[];
}

const with_ = (...ips: string[]) => [makeSandbox({ ips })];
const known = (...ips: string[]): PodStatus => ({ podIPs: ips.map((ip) => ({ ip })) });

const cases: readonly Case[] = [
  { name: 'none yet', sandboxes: [], pod: [] },
  { name: 'the sandbox’s', sandboxes: with_('10.0.0.1'), pod: ['10.0.0.1'] },
  { name: 'the node’s family comes first', sandboxes: with_('fd00::1', '10.0.0.1'), pod: ['10.0.0.1', 'fd00::1'] },
  {
    name: 'also when it is IPv6',
    nodeIps: ['fd00::9'],
    sandboxes: with_('10.0.0.1', 'fd00::1'),
    pod: ['fd00::1', '10.0.0.1'],
  },
  {
    name: 'one of each family',
    sandboxes: with_('10.0.0.1', '10.0.0.2', 'fd00::1', 'fd00::2'),
    pod: ['10.0.0.1', 'fd00::1'],
  },
  { name: 'what is no address is left out', sandboxes: with_('nonsense'), pod: [] },
  { name: 'no node address known', nodeIps: [], sandboxes: with_('fd00::1', '10.0.0.1'), pod: ['10.0.0.1', 'fd00::1'] },
  {
    name: 'a stopped sandbox leaves its address',
    sandboxes: [makeSandbox({ ready: false, ips: [] })],
    previous: known('10.0.0.7'),
    pod: ['10.0.0.7'],
  },
  {
    name: 'also when it is gone at the end',
    sandboxes: [],
    previous: known('10.0.0.7'),
    step: 'terminating',
    pod: ['10.0.0.7'],
  },
  {
    name: 'a new sandbox brings a new one',
    sandboxes: with_('10.0.0.8'),
    previous: known('10.0.0.7'),
    pod: ['10.0.0.8'],
  },
  { name: 'host network', hostNetwork: true, sandboxes: [], pod: ['192.0.2.1'] },
  {
    name: 'host network, both families',
    hostNetwork: true,
    nodeIps: ['192.0.2.1', 'fd00::9'],
    pod: ['192.0.2.1', 'fd00::9'],
  },
  {
    name: 'host network: what was published stays',
    hostNetwork: true,
    previous: known('192.0.2.7'),
    pod: ['192.0.2.7'],
  },
  {
    name: 'host network: a second family may join',
    hostNetwork: true,
    nodeIps: ['192.0.2.1', 'fd00::9'],
    previous: known('192.0.2.7'),
    pod: ['192.0.2.7', 'fd00::9'],
  },
];

for (const {
  name,
  hostNetwork = false,
  sandboxes = with_(),
  nodeIps = ['192.0.2.1'],
  previous,
  step = 'syncing',
  pod,
} of cases) {
  test(name, () => {
    const input = statusInput(makePod({ hostNetwork }), {
      observation: observe([], sandboxes),
      nodeIps,
      previous,
      step,
    });
    const addresses = computeAddresses(input);
    assert.deepEqual(
      (addresses.podIPs ?? []).map(({ ip }) => ip),
      pod,
    );
    assert.equal(addresses.podIP, pod[0]);
    assert.equal(addresses.hostIP, nodeIps[0]);
  });
}
