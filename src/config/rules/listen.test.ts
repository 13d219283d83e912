import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDefaults } from '../schema/defaults.ts';
import type { PartialKubeletConfiguration } from '../schema/kubelet-configuration.ts';
import { defaultSettings } from '../settings.ts';
import { decideListening } from './listen.ts';

const open: PartialKubeletConfiguration = {
  authentication: { anonymous: { enabled: true } },
  authorization: { mode: 'AlwaysAllow' },
};

function decide(partial: PartialKubeletConfiguration, isAddressGiven = false, isClosedByItself = false) {
  const { cadvisor } = defaultSettings;
  const kubelet = applyDefaults(partial);
  const { decision, warnings } = decideListening({ kubelet, cadvisor, isAddressGiven, isClosedByItself });
  return { server: decision.server?.address, readOnly: decision.readOnly?.address, warnings, decision };
}

type Row = [string, PartialKubeletConfiguration, boolean, string | undefined, string | undefined, RegExp | undefined];
const rows: Row[] = [
  ['secure', {}, false, '0.0.0.0', undefined, undefined],
  ['secure with a read-only port', { readOnlyPort: 10255 }, false, '0.0.0.0', '127.0.0.1', /^[^;]*port 10255/],
  ['open', open, false, '127.0.0.1', undefined, /127\.0\.0\.1 only: port 10250 \(anybody/],
  ['both', { ...open, readOnlyPort: 10255 }, false, '127.0.0.1', '127.0.0.1', /10250.* and port 10255/],
  ['open, IPv6', { ...open, address: '::' }, false, '::1', undefined, /on ::1 only/],
  ['open, another default address', { ...open, address: '192.0.2.1' }, false, '127.0.0.1', undefined, /--address/],
  [
    'open, an address given',
    { ...open, readOnlyPort: 1, address: '192.0.2.1' },
    true,
    '192.0.2.1',
    '192.0.2.1',
    undefined,
  ],
  ['open, on loopback already', { ...open, address: '127.0.0.2' }, false, '127.0.0.2', undefined, undefined],
  ['open, on loopback already, IPv6', { ...open, address: '::1' }, false, '::1', undefined, undefined],
  ['anonymous, but asked', { authentication: open.authentication ?? {} }, false, '0.0.0.0', undefined, undefined],
  ['known, then allowed', { authorization: { mode: 'AlwaysAllow' } }, false, '0.0.0.0', undefined, undefined],
  ['no server', { ...open, enableServer: false }, false, undefined, undefined, undefined],
];
for (const [name, partial, given, server, readOnly, warning] of rows) {
  test(`where to listen: ${name}`, () => {
    const answer = decide(partial, given);
    assert.equal(answer.server, server);
    assert.equal(answer.readOnly, readOnly);
    assert.equal(answer.warnings.length, warning === undefined ? 0 : 1);
    if (warning !== undefined) assert.match(answer.warnings[0] ?? '', warning);
  });
}

test('a server that refuses unauthenticated callers is not limited to loopback', () => {
  const answer = decide({ ...open, readOnlyPort: 10255 }, false, true);
  assert.deepEqual([answer.server, answer.readOnly], ['0.0.0.0', '127.0.0.1']);
  assert.match(answer.warnings[0] ?? '', /only: port 10255 \(anybody may read\);/);
});

test('health and cAdvisor listen on the configured address, and port 0 disables them', () => {
  assert.deepEqual(decide({}).decision.healthz, { address: '127.0.0.1', port: 10248 });
  assert.deepEqual(decide({}).decision.cadvisor, { address: '127.0.0.1', port: 4194 });
  assert.equal(decide({ healthzPort: 0 }).decision.healthz, undefined);
});
