import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownIps } from './host-network.ts';
import type { Pod } from './pod.ts';

const pod = (hostNetwork: boolean, ...reported: readonly string[]): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], hostNetwork },
  status: { podIPs: reported.map((ip) => ({ ip })) },
});
const node = ['192.0.2.1', 'fd00::9', '192.0.2.2'];

for (const [what, given, sandbox, expected] of [
  ['its own', pod(false), ['10.88.0.2'], ['10.88.0.2']],
  ["its node's, at most two", pod(true), [], ['192.0.2.1', 'fd00::9']],
  [
    'those that were reported, after the address of the node changed',
    pod(true, '192.0.2.7'),
    [],
    ['192.0.2.7', 'fd00::9'],
  ],
] as const) {
  test(`a container sees as addresses of its pod: ${what}`, () =>
    assert.deepEqual(ownIps(given, sandbox, node), expected));
}
