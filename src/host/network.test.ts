import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import {
  createInterfaceReader,
  listDefaultRoutes,
  listInterfaces,
  localIpv4Addresses,
  parseIpv4Routes,
  parseIpv6Routes,
  parseResolved,
  resolveName,
  wideIpv6Addresses,
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

const TRIE = (address: string) => `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 192.0.2.0
        /24 link UNICAST
     |-- ${address}
        /32 host LOCAL
     |-- 192.0.2.255
        /32 link BROADCAST
Local:
     |-- ${address}
        /32 host LOCAL
`;
const INET6 = (veth: string) => `fd000000000000000000000000000002 04 40 00 82     eth0
fe8000000000000000fc00fffe000001 05 40 20 80     ${veth}
00000000000000000000000000000001 01 80 10 80       lo
`;

describe('the interfaces', () => {
  it('are distinguished by their addresses', () => {
    assert.deepEqual(localIpv4Addresses(TRIE('192.0.2.10')), ['192.0.2.10']);
    assert.deepEqual(wideIpv6Addresses(INET6('veth1')), [
      '00000000000000000000000000000001@lo',
      'fd000000000000000000000000000002@eth0',
    ]);
    assert.deepEqual([localIpv4Addresses(''), wideIpv6Addresses('')], [[], []]);
  });

  it('are read again when an address has changed and after a minute, not because a pod came', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'interfaces-'));
    t.after(() => rm(directory, { recursive: true }));
    const files = { ipv4: join(directory, 'fib_trie'), ipv6: join(directory, 'if_inet6') };
    let [now, reads] = [1000, 0];
    const list = () => {
      reads += 1;
      return [];
    };
    const read = createInterfaceReader(() => now, { list, files });
    const readsAfter = async (address: string, veth: string) => {
      await writeFile(files.ipv4, TRIE(address));
      await writeFile(files.ipv6, INET6(veth));
      read();
      return reads;
    };
    read();
    read();
    assert.equal(reads, 2, 'no files: it can not know');
    assert.equal(await readsAfter('192.0.2.10', 'veth1'), 3);
    assert.equal(await readsAfter('192.0.2.10', 'veth2'), 3);
    assert.equal(await readsAfter('192.0.2.11', 'veth2'), 4);
    now += 60_000;
    assert.equal(await readsAfter('192.0.2.11', 'veth2'), 5);
  });

  it('of this machine are the same either way', () => {
    const read = createInterfaceReader(() => 0);
    assert.deepEqual(read(), listInterfaces());
    assert.equal(read(), read());
  });
});

describe('names', () => {
  const clock = createSystemClock();
  const { signal } = new AbortController();
  it('that the system knows', async () => {
    assert.ok((await resolveName('localhost', { clock, signal })).length > 0);
  });
  it('that no one can know, or that look like a flag', async () => {
    assert.deepEqual(await resolveName('--help', { clock, signal }), []);
    assert.deepEqual(await resolveName('', { clock, signal }), []);
  });
  it('are cancelled with the caller', async () => {
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
