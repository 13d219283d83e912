import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import {
  listDefaultRoutes,
  listInterfaces,
  parseIpv4Routes,
  parseIpv6Routes,
  parseResolved,
  resolveName,
} from './network.ts';

const IPV4 = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
eth1\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0
`;
const ZERO = '0'.repeat(32);
const REST = `${ZERO} 00 ${ZERO} 00000400 00000001 00000000 00000003`;
const IPV6 = `fe800000000000000000000000000000 40 ${REST}    eth0
${ZERO} 00 ${REST}     eth1
${ZERO} 01 ${REST}     tun0
${ZERO} 00 ${REST}       lo
`;

describe('default routes', () => {
  it('of IPv4 are those for everything', () =>
    assert.deepEqual(parseIpv4Routes(IPV4), [{ family: 4, interface: 'eth1' }]));
  it("of IPv6 are those for everything, but not the kernel's refusal", () =>
    assert.deepEqual(parseIpv6Routes(IPV6), [{ family: 6, interface: 'eth1' }]));
  it('are none in files that are empty or not there', () => {
    assert.deepEqual(parseIpv4Routes(''), []);
    assert.deepEqual(parseIpv6Routes(''), []);
    assert.deepEqual(listDefaultRoutes({ ipv4: '/no/such', ipv6: '/no/such' }), []);
  });
});

it('every machine has its loopback interface', () => {
  const loopback = listInterfaces().find((each) => each.loopback);
  assert.ok(loopback?.addresses.includes('127.0.0.1'));
});

describe('names', () => {
  const clock = createSystemClock();
  const { signal } = new AbortController();
  it('that the system knows', async () => {
    assert.ok((await resolveName('localhost', { clock, signal })).length > 0);
  });
  it('that nobody can know, or that look like a flag', async () => {
    assert.deepEqual(await resolveName('--help', { clock, signal }), []);
    assert.deepEqual(await resolveName('', { clock, signal }), []);
  });
  it('are given up with whoever asks', async () => {
    const life = new AbortController();
    const asking = resolveName('x', {
      clock,
      signal: life.signal,
      run: (_, limits) =>
        new Promise((_resolve, reject) => limits.signal.addEventListener('abort', () => reject(limits.signal.reason))),
    });
    life.abort('over');
    await assert.rejects(asking, (reason) => reason === 'over');
  });
  it('come once, in the order of the resolver', () => {
    const text = '2001:db8::1     STREAM web\n2001:db8::1     DGRAM\n192.0.2.1       STREAM\n192.0.2.1       RAW\n';
    assert.deepEqual(parseResolved(text), ['2001:db8::1', '192.0.2.1']);
  });
});
