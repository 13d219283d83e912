import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFamily,
  quantityFromMillis,
  quantityFromUnits,
  quantityMilliValue,
  quantityValue,
  subtractQuantities,
} from './quantity.ts';

function read(text: string): Quantity {
  const answer = parseQuantity(text);
  assert.ok(answer.ok, text);
  return answer.value;
}

const canonical: readonly (readonly [text: string, printed: string])[] = [
  ['0', '0'],
  ['0Mi', '0'],
  ['-0', '0'],
  ['1', '1'],
  ['+5', '5'],
  ['007', '7'],
  ['1.', '1'],
  ['.5', '500m'],
  ['1.5', '1500m'],
  ['1500m', '1500m'],
  ['2000m', '2'],
  ['1000', '1k'],
  ['1024', '1024'],
  ['1048576', '1048576'],
  ['1.G', '1G'],
  ['1000E', '1000E'],
  ['1Ki', '1Ki'],
  ['1024Ki', '1Mi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Ki', '512'],
  ['-1Mi', '-1Mi'],
  ['0.0001Ki', '102400u'],
  ['1.0001Ki', '1024102400u'],
  ['8Ei', '9223372036854775807'],
  ['-9Ei', '-9223372036854775807'],
  ['12e6', '12e6'],
  ['12E6', '12e6'],
  ['1500e3', '1500e3'],
  ['1000e3', '1e6'],
  ['100e-3', '100e-3'],
  ['1e+2', '100'],
  ['1E', '1E'],
  ['1n', '1n'],
  ['0.1n', '1n'],
  ['-0.1n', '-1n'],
  ['1e-30', '1e-9'],
];

test('prints each quantity in its one canonical form', () => {
  for (const [text, printed] of canonical) assert.equal(formatQuantity(read(text)), printed, text);
});

test('refuses what is no quantity and says why', () => {
  const bad = [
    '',
    ' ',
    '.',
    '-',
    'Mi',
    '10Q',
    '10ki',
    '10KI',
    '1 Mi',
    '1Mi ',
    '1e',
    '1e1.5',
    '1k2',
    '0x10',
    '1,5',
    '--1',
    '٣',
    '1e100',
  ];
  for (const text of bad) {
    const answer = parseQuantity(text);
    assert.ok(!answer.ok, text);
    assert.ok(answer.problem.includes(JSON.stringify(text)), answer.problem);
  }
});

test('rounds away from zero to whole units and thousandths', () => {
  const table: readonly (readonly [string, bigint, bigint])[] = [
    ['0', 0n, 0n],
    ['1', 1n, 1000n],
    ['1n', 1n, 1n],
    ['-1n', -1n, -1n],
    ['100m', 1n, 100n],
    ['1500m', 2n, 1500n],
    ['-1500m', -2n, -1500n],
    ['1001u', 1n, 2n],
    ['10Mi', 10_485_760n, 10_485_760_000n],
  ];
  for (const [text, units, millis] of table) {
    assert.equal(quantityValue(read(text)), units, text);
    assert.equal(quantityMilliValue(read(text)), millis, text);
  }
});

test('compares and adds exactly, in the family of the first that is not zero', () => {
  assert.equal(compareQuantities(read('1Gi'), read('1G')), 1);
  assert.equal(compareQuantities(read('1000m'), read('1')), 0);
  assert.equal(compareQuantities(read('-1'), read('0')), -1);
  assert.equal(formatQuantity(addQuantities(read('1Gi'), read('1Mi'))), '1025Mi');
  assert.equal(formatQuantity(addQuantities(read('0'), read('1Mi'))), '1Mi');
  assert.equal(formatQuantity(addQuantities(read('100m'), read('0.1'))), '200m');
  assert.equal(formatQuantity(subtractQuantities(read('1'), read('1m'))), '999m');
  assert.equal(formatQuantity(quantityFromUnits(2048n, 'binary')), '2Ki');
  assert.equal(formatQuantity(quantityFromMillis(2500n, 'decimal')), '2500m');
});

test('what is printed reads back as the same amount', () => {
  const families = fc.constantFrom<QuantityFamily>('binary', 'decimal', 'exponent');
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), families, (nanos, family) => {
      const text = formatQuantity({ nanos, family });
      assert.equal(read(text).nanos, nanos);
      assert.equal(formatQuantity(read(text)), text);
    }),
  );
});

test('no text makes it throw', () => {
  const parts = fc.constantFrom('1', '0', '.', '-', '+', 'e', 'E', 'Ki', 'Mi', 'm', 'n', 'i', ' ', '999999999999');
  const almost = fc.array(parts, { maxLength: 8 }).map((list) => list.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (text) => {
      const answer = parseQuantity(text);
      assert.ok(answer.ok ? formatQuantity(answer.value).length > 0 : answer.problem.length > 0);
    }),
  );
});

test('no quantity has a thousand digits, and no message repeats them', () => {
  const quantity = parseQuantity('1'.repeat(1000));
  assert.ok(!quantity.ok && quantity.problem.length < 300, 'a short problem');
  assert.equal(parseQuantity('1'.repeat(128)).ok, true);
});
