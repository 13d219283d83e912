import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeAddress } from '../../api/node.ts';
import { type AddressInput, computeAddresses, hasConfiguredAddress } from './addresses.ts';

const eth0 = { name: 'eth0', up: true, loopback: false, addresses: ['192.0.2.10', '2001:db8::10', 'fe80::1'] };
const eth1 = { name: 'eth1', up: true, loopback: false, addresses: ['198.51.100.7', 'fd00:0:0:1::7'] };
const lo = { name: 'lo', up: true, loopback: true, addresses: ['127.0.0.1', '::1'] };
const v4 = { family: 4, interface: 'eth0' } as const;
const v6 = { family: 6, interface: 'eth0' } as const;
const base: AddressInput = {
  nodeName: 'web',
  hostname: 'web',
  flagIps: [],
  named: [],
  interfaces: [lo, eth0, eth1],
  routes: [v4, v6],
  externalCloud: false,
};

interface Case {
  readonly input: Partial<AddressInput>;
  readonly known?: readonly NodeAddress[];
  /** `type address` words, or the fault. */
  readonly want: readonly string[] | RegExp;
  readonly providedIp?: string;
}

const HOST = 'Hostname web';
const given = [{ type: 'ExternalIP', address: '203.0.113.5' }];
const CASES: Readonly<Record<string, Case>> = {
  'the interface of the default route': { input: {}, want: ['InternalIP 192.0.2.10', HOST] },
  'IPv6 where there is nothing else': { input: { routes: [v6] }, want: ['InternalIP 2001:db8::10', HOST] },
  'IPv6 first where the flag says so': { input: { flagIps: ['::'] }, want: ['InternalIP 2001:db8::10', HOST] },
  'IPv4 where the flag says 0.0.0.0': { input: { flagIps: ['0.0.0.0'] }, want: ['InternalIP 192.0.2.10', HOST] },
  'the flag': { input: { flagIps: ['198.51.100.7'] }, want: ['InternalIP 198.51.100.7', HOST] },
  'the flag in another spelling': {
    input: { flagIps: ['FD00:0000:0:1:0::7'] },
    want: ['InternalIP fd00:0:0:1::7', HOST],
  },
  'both families': {
    input: { flagIps: ['2001:db8::10', '192.0.2.10'] },
    want: ['InternalIP 2001:db8::10', 'InternalIP 192.0.2.10', HOST],
  },
  'a host name that is an address': {
    input: { hostname: '10.0.0.9' },
    want: ['InternalIP 10.0.0.9', 'Hostname 10.0.0.9'],
  },
  'what the name resolves to, before the default route': {
    input: { named: ['198.51.100.7'] },
    want: ['InternalIP 198.51.100.7', HOST],
  },
  'IPv4 of what the name resolves to': {
    input: { named: ['fd00:0:0:1::7', '198.51.100.7'] },
    want: ['InternalIP 198.51.100.7', HOST],
  },
  'not what the name resolves to elsewhere': {
    input: { named: ['127.0.1.1', '203.0.113.9'] },
    want: ['InternalIP 192.0.2.10', HOST],
  },
  'the loopback interface where links have no global address': {
    input: {
      interfaces: [
        { ...lo, addresses: ['127.0.0.1', '192.0.2.77'] },
        { ...eth0, addresses: ['169.254.1.1'] },
      ],
    },
    want: ['InternalIP 192.0.2.77', HOST],
  },
  'no route': {
    input: { routes: [] },
    want: /can't get ip address of node web\. error: .*no default route.*--node-ip/,
  },
  'a route over an interface that is down': {
    input: { interfaces: [lo, { ...eth0, up: false }] },
    want: /no interface with a default route has a global address/,
  },
  'an address of another machine': {
    input: { flagIps: ['203.0.113.1'] },
    want: /failed to validate nodeIP: node IP: "203\.0\.113\.1" not found in the host's network interfaces/,
  },
  'a second address of another machine': {
    input: { flagIps: ['192.0.2.10', '2001:db8::99'] },
    want: /failed to validate secondaryNodeIP: .*2001:db8::99/,
  },
  'a loopback address': { input: { flagIps: ['127.0.0.1'] }, want: /nodeIP can't be loopback address/ },
  'a multicast address': { input: { flagIps: ['ff02::1'] }, want: /nodeIP can't be a multicast address/ },
  'a link-local address': { input: { flagIps: ['169.254.3.4'] }, want: /nodeIP can't be a link-local unicast address/ },
  'a cloud that has not spoken yet': { input: { externalCloud: true }, want: [HOST] },
  'a cloud that has spoken': { input: { externalCloud: true }, known: given, want: ['ExternalIP 203.0.113.5'] },
  'no cloud: what others have said goes': { input: {}, known: given, want: ['InternalIP 192.0.2.10', HOST] },
  'a cloud and the flag': {
    input: { externalCloud: true, flagIps: ['192.0.2.10', '2001:db8::10'] },
    want: ['InternalIP 192.0.2.10', 'InternalIP 2001:db8::10', HOST],
    providedIp: '192.0.2.10,2001:db8::10',
  },
  'a cloud that has spoken, and the flag': {
    input: { externalCloud: true, flagIps: ['192.0.2.10'] },
    known: given,
    want: ['ExternalIP 203.0.113.5'],
    providedIp: '192.0.2.10',
  },
  'a cloud and zeros: the default route until it speaks': {
    input: { externalCloud: true, flagIps: ['0.0.0.0'] },
    want: ['InternalIP 192.0.2.10', HOST],
  },
};

describe('the addresses of a node are', () => {
  for (const [name, { input, known, want, providedIp }] of Object.entries(CASES)) {
    it(name, () => {
      const answer = computeAddresses({ ...base, ...input }, known);
      if (want instanceof RegExp) {
        assert.ok(!answer.ok);
        assert.match(answer.problem, want);
        return;
      }
      assert.ok(answer.ok);
      assert.deepEqual(
        answer.value.addresses.map(({ type, address }) => `${type} ${address}`),
        want,
      );
      assert.equal(answer.value.providedIp, providedIp);
    });
  }
});

it('names are resolved only if no address is configured', () => {
  assert.equal(hasConfiguredAddress(base), false);
  assert.equal(hasConfiguredAddress({ ...base, flagIps: ['::'] }), false);
  assert.equal(hasConfiguredAddress({ ...base, flagIps: ['192.0.2.10'] }), true);
  assert.equal(hasConfiguredAddress({ ...base, hostname: '192.0.2.10' }), true);
});
