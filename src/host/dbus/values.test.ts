import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as check, property, string, uint8Array } from 'fast-check';
import { parseSignature } from './signature.ts';
import { type DBusValue, decodeValues, encodeValues } from './values.ts';

test('values come back as they were', () => {
  const cases: readonly (readonly [string, readonly DBusValue[]])[] = [
    ['ybnqiuxtd', [255, true, -3, 65_535, -70_000, 4_000_000_000, -(2n ** 60n), 2n ** 64n - 1n, 1.5]],
    ['sog', ['grüße', '/org/freedesktop', 'a{sv}']],
    ['as', [['a', '', 'ccc']]],
    [
      'a(sv)',
      [
        [
          ['Memory', { signature: 't', value: 7n }],
          ['List', { signature: 'as', value: ['x'] }],
        ],
      ],
    ],
    ['a{sv}', [[['key', { signature: 'b', value: false }]]]],
    ['ay', [[1, 2, 3]]],
    ['yat', [1, []]],
    ['(y(nx))v', [[1, [2, 3n]], { signature: '(su)', value: ['a', 1] }]],
    ['', []],
  ];
  for (const [signature, values] of cases) {
    assert.deepEqual(decodeValues(signature, encodeValues(signature, values)), values, signature);
  }
});

test('the bytes are those of the specification', () => {
  // Each value begins at a multiple of its alignment; the length of an array does not count the padding before its first element.
  assert.equal(encodeValues('ys', [1, 'ab']).toString('hex'), '01000000' + '02000000' + '616200');
  assert.equal(encodeValues('at', [[5n]]).toString('hex'), '08000000' + '00000000' + '0500000000000000');
  assert.equal(encodeValues('v', [{ signature: 'u', value: 7 }]).toString('hex'), '01750000' + '07000000');
  assert.deepEqual(decodeValues('uu', Buffer.from('0000000100000002', 'hex'), false), [1, 2]);
});

test('bad signatures are refused', () => {
  for (const text of ['a', '(', '(s', '()', '{s}', 'e', 'a{', 's)', 'a'.repeat(300), '('.repeat(40)]) {
    assert.throws(() => parseSignature(text), /is not a D-Bus signature/, text);
  }
  assert.throws(() => encodeValues('ss', ['a']), /1 values for "ss"/);
  assert.throws(() => encodeValues('s', ['a\0b']), /can't be sent as text/);
});

test('no bytes make the decoder do anything but answer or refuse', () => {
  check(
    property(uint8Array({ maxLength: 64 }), string({ maxLength: 6 }), (bytes, signature) => {
      for (const given of ['a(sv)', 'aas', 'v', 'ag', signature]) {
        try {
          decodeValues(given, Buffer.from(bytes));
        } catch (error) {
          assert.match(String(error), /D-Bus/);
        }
      }
    }),
  );
});
