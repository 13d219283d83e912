import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { isUnspecified, parseCidr, parseIpAddress } from './ip-address.ts';

test('addresses', () => {
  const good: [string, 4 | 6, number[]][] = [
    ['10.96.0.10', 4, [10, 96, 0, 10]],
    ['010.001.0.0', 4, [10, 1, 0, 0]],
    ['::', 6, new Array(16).fill(0)],
    ['::1', 6, [...new Array(15).fill(0), 1]],
    ['2001:db8::a:0', 6, [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a, 0, 0]],
    ['1:2:3:4:5:6:7:8', 6, [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
    ['::ffff:1.2.3.4', 4, [1, 2, 3, 4]],
    ['64:ff9b::1.2.3.4', 6, [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]],
  ];
  for (const [text, family, bytes] of good) assert.deepEqual(parseIpAddress(text), { family, bytes }, text);
});

test('what is no address', () => {
  const bad = ['', '1.2.3', '1.2.3.256', '1.2.3.4.5', 'dns.example', '1:2', ':::', '1::2::3', '1:2:3:4:5:6:7:8:9'];
  bad.push('g::', 'fe80::1%eth0', '1.2.3.4::', '::1.2.3', '1:2:3:4:5:6:7::8:9', ' 1.2.3.4', '1:2:3:4:5:6:7:8::');
  for (const text of bad) assert.equal(parseIpAddress(text), undefined, text);
});

test('agrees with the system about every generated address', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      assert.equal(parseIpAddress(text) === undefined, isIP(text) === 0, text);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789abcdef:.'), maxLength: 24 }), (text) => {
      if (parseIpAddress(text) === undefined) assert.equal(isIP(text), 0, text);
    }),
  );
});

test('networks', () => {
  assert.equal(parseCidr('10.0.0.0/24')?.prefixLength, 24);
  assert.equal(parseCidr('fd00::/64')?.address.family, 6);
  for (const bad of ['10.0.0.0', '10.0.0.0/33', 'fd00::/129', 'x/8', '10.0.0.0/', '/8', '10.0.0.0/-1']) {
    assert.equal(parseCidr(bad), undefined, bad);
  }
});

test('the unspecified addresses', () => {
  for (const [text, expected] of [
    ['0.0.0.0', true],
    ['::', true],
    ['0.0.0.1', false],
    ['::1', false],
  ] as const) {
    const address = parseIpAddress(text);
    assert.ok(address !== undefined);
    assert.equal(isUnspecified(address), expected, text);
  }
});
