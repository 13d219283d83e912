import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createAddressBook, internalIpsOf } from './address-book.ts';

const interfaces = [
  { name: 'lo', up: true, loopback: true, addresses: ['127.0.0.1'] },
  { name: 'eth0', up: true, loopback: false, addresses: ['2001:db8::10', '192.0.2.10'] },
  { name: 'eth1', up: true, loopback: false, addresses: ['198.51.100.7'] },
];
const signal = () => new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function setUp(resolve: () => Promise<readonly string[]>, flagIps: readonly string[] = [], hasRoute = true) {
  const clock = createManualClock();
  let asked = 0;
  const book = createAddressBook(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      network: {
        interfaces: () => interfaces,
        routes: () => (hasRoute ? [{ family: 4, interface: 'eth0' }] : []),
        resolve: () => {
          asked += 1;
          return resolve();
        },
      },
    },
    { nodeName: 'web', hostname: 'web', flagIps, externalCloud: false },
  );
  return { book, clock, asked: () => asked };
}

describe('the address book', () => {
  it('has the address of the default route before anything is resolved', () => {
    const { book } = setUp(() => new Promise(() => undefined));
    assert.deepEqual(book.internalIps(), ['192.0.2.10']);
  });

  it('has the resolved address as soon as it is known, and keeps it when name servers fail', async () => {
    const answers = [['198.51.100.7'], [], []];
    const { book, clock, asked } = setUp(() => Promise.resolve(answers.shift() ?? []));
    await book.start(signal());
    await book.settled(signal());
    assert.deepEqual(book.internalIps(), ['198.51.100.7']);
    await clock.advance(60_000);
    await turn();
    assert.equal(asked(), 2);
    assert.deepEqual(book.internalIps(), ['198.51.100.7']);
  });

  it('reads the interfaces again after some seconds, not for each pod', async () => {
    let readings = 0;
    const clock = createManualClock();
    const book = createAddressBook(
      {
        clock,
        supervisor: createTestSupervisor(clock),
        network: {
          interfaces: () => {
            readings += 1;
            return interfaces.slice(0, readings + 1);
          },
          routes: () => [{ family: 4, interface: 'eth1' }],
          resolve: () => new Promise(() => undefined),
        },
      },
      { nodeName: 'web', hostname: 'web', flagIps: [], externalCloud: false },
    );
    const first = book.internalIps();
    assert.deepEqual(book.internalIps(), first);
    await clock.advance(5000);
    assert.deepEqual(book.internalIps(), ['198.51.100.7']);
    assert.notDeepEqual(first, ['198.51.100.7']);
  });

  it('waits for name servers only a moment', async () => {
    const { book, clock } = setUp(() => new Promise(() => undefined));
    await book.start(signal());
    let settled = false;
    const waiting = book.settled(signal()).then(() => {
      settled = true;
    });
    await clock.advance(299);
    assert.equal(settled, false);
    await clock.advance(1);
    await waiting;
  });

  it('resolves no name if the flag gives the address', async () => {
    const { book, asked } = setUp(() => Promise.resolve([]), ['198.51.100.7']);
    await book.start(signal());
    await book.settled(signal());
    assert.equal(asked(), 0);
    assert.deepEqual(book.internalIps(), ['198.51.100.7']);
  });

  it('uses any address of a machine without a default route, IPv4 first', () => {
    const { book } = setUp(() => Promise.resolve([]), [], false);
    assert.deepEqual(book.internalIps(), ['192.0.2.10']);
  });

  it('prefers internal over external addresses of a cloud', () => {
    const addresses = [
      { type: 'ExternalIP', address: '203.0.113.1' },
      { type: 'Hostname', address: 'web' },
      { type: 'InternalIP', address: '10.0.0.1' },
    ];
    assert.deepEqual(internalIpsOf(addresses), ['10.0.0.1', '203.0.113.1']);
  });
});
