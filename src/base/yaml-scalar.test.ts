import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { resolvePlain, resolveTagged, type Scalar } from './yaml-scalar.ts';

const bool = (value: boolean): Scalar => ({ kind: 'bool', value });
const int = (value: bigint): Scalar => ({ kind: 'int', value });
const float = (value: number): Scalar => ({ kind: 'float', value });
const string = (value: string): Scalar => ({ kind: 'string', value });
const nothing: Scalar = { kind: 'null' };

const meanings: readonly (readonly [string, Scalar])[] = [
  ['', nothing],
  ['~', nothing],
  ['NULL', nothing],
  ['nULL', string('nULL')],
  ['y', bool(true)],
  ['On', bool(true)],
  ['no', bool(false)],
  ['tRUE', string('tRUE')],
  ['0', int(0n)],
  ['-0', int(0n)],
  ['+5', int(5n)],
  ['-17', int(-17n)],
  ['010', int(8n)],
  ['0o10', int(8n)],
  ['0x1F', int(31n)],
  ['-0b101', int(-5n)],
  ['1_000', int(1000n)],
  ['18446744073709551615', int(18446744073709551615n)],
  ['18446744073709551616', float(2 ** 64)],
  ['08', float(8)],
  ['1e3', float(1000)],
  ['.5', float(0.5)],
  ['5.', float(5)],
  ['.inf', float(Number.POSITIVE_INFINITY)],
  ['-.Inf', float(Number.NEGATIVE_INFINITY)],
  ['.iNf', string('.iNf')],
  ['1e400', string('1e400')],
  ['0x', string('0x')],
  ['0o8', string('0o8')],
  ['1:30', string('1:30')],
  ['2026-01-01', string('2026-01-01')],
  ['10.0.0.1', string('10.0.0.1')],
  ['1m30s', string('1m30s')],
  ['-', string('-')],
  ['._5', string('._5')],
];

test('an unquoted scalar means what it means to the reference', () => {
  for (const [text, meaning] of meanings) assert.deepEqual(resolvePlain(text), meaning, text);
});

test('a tag decides, where the text can be read that way', () => {
  assert.deepEqual(resolveTagged('tag:yaml.org,2002:str', '5'), string('5'));
  assert.deepEqual(resolveTagged('tag:yaml.org,2002:int', '5'), int(5n));
  assert.deepEqual(resolveTagged('tag:yaml.org,2002:float', '5'), float(5));
  assert.deepEqual(resolveTagged('!own', 'yes'), string('yes'));
  assert.equal(resolveTagged('tag:yaml.org,2002:int', 'x'), undefined);
  assert.equal(resolveTagged('tag:yaml.org,2002:bool', '1'), undefined);
});

test('every text means something', () => {
  const parts = fc.constantFrom('0', '1', 'x', 'b', 'o', '_', '-', '+', '.', 'e', 'E', 'inf', '9');
  const numberLike = fc.array(parts, { maxLength: 8 }).map((list) => list.join(''));
  fc.assert(fc.property(fc.oneof(fc.string(), numberLike), (text) => typeof resolvePlain(text).kind === 'string'));
});
