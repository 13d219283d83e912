import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CodedError } from '../base/errors.ts';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { Kind, type MessageType, message, NO_BYTES, NO_ENTRIES, NO_ITEMS, Shape } from './message.ts';

/** One field of each kind and shape, and itself. */
interface Sample {
  readonly text: string;
  readonly data: Uint8Array;
  readonly flag: boolean;
  readonly small: number;
  readonly count: number;
  readonly time: bigint;
  readonly mask: bigint;
  readonly size: number;
  readonly limit: number;
  readonly share: number;
  readonly child: Sample | undefined;
  readonly words: readonly string[];
  readonly numbers: readonly number[];
  readonly children: readonly Sample[];
  readonly labels: Readonly<Record<string, string>>;
  readonly named: Readonly<Record<string, Sample>>;
  readonly left: string | undefined;
  readonly right: Sample | undefined;
  readonly maybe: number | undefined;
}

const zero = (): Sample => ({
  text: '',
  data: NO_BYTES,
  flag: false,
  small: 0,
  count: 0,
  time: 0n,
  mask: 0n,
  size: 0,
  limit: 0,
  share: 0,
  child: undefined,
  words: NO_ITEMS,
  numbers: NO_ITEMS,
  children: NO_ITEMS,
  labels: NO_ENTRIES,
  named: NO_ENTRIES,
  left: undefined,
  right: undefined,
  maybe: undefined,
});

const Sample: MessageType<Sample> = message('test.Sample', zero, [
  [1, 'text', Kind.string],
  [2, 'data', Kind.bytes],
  [3, 'flag', Kind.bool],
  [4, 'small', Kind.int32],
  [5, 'count', Kind.uint32],
  [6, 'time', Kind.int64],
  [7, 'mask', Kind.uint64],
  [8, 'size', Kind.int64Number],
  [9, 'limit', Kind.uint64Number],
  [10, 'share', Kind.double],
  [11, 'child', () => Sample],
  [12, 'words', Kind.string, Shape.list],
  [13, 'numbers', Kind.int32, Shape.list],
  [14, 'children', () => Sample, Shape.list],
  [15, 'labels', Kind.string, Shape.map],
  [16, 'named', () => Sample, Shape.map],
  [17, 'left', Kind.string, Shape.optional, ['left', 'right']],
  [18, 'right', () => Sample, Shape.optional, ['left', 'right']],
  [2000, 'maybe', Kind.int32, Shape.optional],
]);

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function sampleOf(depth: number): fc.Arbitrary<Sample> {
  const nested = depth === 0 ? undefined : sampleOf(depth - 1);
  return fc.record(
    {
      text: fc.string({ unit: 'binary' }),
      data: fc.uint8Array({ maxLength: 200 }),
      flag: fc.boolean(),
      small: fc.integer(),
      count: fc.nat(2 ** 32 - 1),
      time: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
      mask: fc.bigInt(0n, 2n ** 64n - 1n),
      size: fc.maxSafeInteger(),
      limit: fc.maxSafeNat(),
      share: fc.double(),
      child: nested === undefined ? fc.constant(undefined) : fc.option(nested, { nil: undefined }),
      words: fc.array(fc.string({ unit: 'grapheme' })),
      numbers: fc.array(fc.integer()),
      children: nested === undefined ? fc.constant([]) : fc.array(nested, { maxLength: 2 }),
      labels: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
      named:
        nested === undefined
          ? fc.constant({})
          : fc.dictionary(fc.string(), nested, { maxKeys: 2, noNullPrototype: true }),
      left: fc.option(fc.string(), { nil: undefined }),
      right: fc.constant(undefined),
      maybe: fc.option(fc.integer(), { nil: undefined }),
    },
    { noNullPrototype: true },
  );
}

const sample = sampleOf(2);

test('decoding is the inverse of encoding', () => {
  fc.assert(
    fc.property(sample, (value) => assert.deepEqual(decode(Sample, encode(Sample, value)), value)),
    { numRuns: 100 },
  );
});

function decodesOrRefuses(bytes: Uint8Array): void {
  try {
    decode(Sample, bytes);
  } catch (error) {
    assert.ok(error instanceof CodedError && error.code === 'invalid', String(error));
  }
}

test('any bytes decode or are refused as invalid, never anything else', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), decodesOrRefuses), { numRuns: 1000 });
});

test('good bytes with some of them changed, or cut off, decode or are refused as invalid', () => {
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 });
  fc.assert(
    fc.property(sample, damage, fc.nat(), (value, changes, cut) => {
      const bytes = Uint8Array.from(encode(Sample, value));
      for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
      decodesOrRefuses(bytes.subarray(0, bytes.length - (cut % (bytes.length + 1))));
    }),
    { numRuns: 150 },
  );
});

const malformed: readonly [string, string, RegExp][] = [
  ['a tag alone', '0a', /cut off/],
  ['a length past the end', '0a05 6162', /value of 5 bytes is cut off/],
  ['a length of more than 32 bits', '0a ffffffffff01', /cut off/],
  ['field number 0', '02 00', /no such field tag/],
  ['a tag of more than 32 bits', 'ffffffffffff01', /no such field tag/],
  ['a number without an end', '20 ffff', /cut off/],
  ['a number of 11 bytes', '20 ffffffffffffffffffff01', /more than 10 bytes/],
  ['half a double', '51 00000000', /double is cut off/],
  ['an unknown wire type', '0e', /no such wire type \(6\)/],
  ['an unknown field cut off', '92 3e 05 61', /cut off/],
  ['an unknown fixed32 cut off', 'a53e 00', /cut off/],
  ['an unknown fixed64 cut off', 'a13e 00', /cut off/],
  ['a group that does not end', 'a33e', /group does not end/],
  ['a group that ends as another', 'a33e ac3e', /did not begin/],
  ['the end of no group', 'a43e', /no such wire type \(4\)/],
  ['a packed list cut within a number', '6a 01 80', /cut off/],
  ['a map entry with field number 0', '7a 01 02', /no such field tag/],
  ['an inner message longer than the outer', '5a 02 0a05', /cut off/],
  ['a number that reaches past its message', '5a 02 20ff 01', /cut off/],
];

for (const [name, bytes, expected] of malformed) {
  test(`refused: ${name}`, () => {
    assert.throws(
      () => decode(Sample, hex(bytes)),
      (error) =>
        error instanceof CodedError &&
        error.code === 'invalid' &&
        expected.test(error.message) &&
        /^test\.Sample: /.test(error.message),
    );
  });
}

test('messages nested too deep are refused instead of ending the stack', () => {
  let bytes = Buffer.alloc(0);
  for (let depth = 0; depth < 5000; depth++) {
    const length = encode(Sample, { count: bytes.length }).subarray(1);
    bytes = Buffer.concat([hex('5a'), bytes.length === 0 ? hex('00') : length, bytes]);
  }
  assert.throws(() => decode(Sample, bytes), /more than 100 messages nested/);
  const groups = Buffer.alloc(100_000, hex('0b'));
  assert.throws(() => decode(Sample, groups), /more than 100 groups nested/);
});

const tolerated: readonly [string, string, Partial<Sample>][] = [
  ['nothing', '', {}],
  [
    'unknown fields of every wire type',
    '983e01 a13e0000000000000000 923e0161 a53e00000000 a33e 983e01 a43e 2005',
    { small: 5 },
  ],
  ['a known number with another wire type', '0805 2007', { small: 7 }],
  ['numbers unpacked', '6801 6802', { numbers: [1, 2] }],
  ['numbers packed in two runs and unpacked', '6a0101 6802 6a020304', { numbers: [1, 2, 3, 4] }],
  ['the last of a scalar twice', '2001 2002', { small: 2 }],
  ['an overlong varint', '2082808000', { small: 2 }],
  ['a negative int32 in 10 bytes', '20ffffffffffffffffff01', { small: -1 }],
  ['an int32 with too many bits', '20ffffffff1f', { small: -1 }],
  ['a bool in the high half', '1880808080808001', { flag: true }],
  ['invalid UTF-8', '0a03 61ff62', { text: 'a\ufffdb' }],
  ['a map entry without key', '7a03 120161', { labels: { '': 'a' } }],
  ['a map entry without value', '7a03 0a0161', { labels: { a: '' } }],
  ['a map entry twice', '7a06 0a016112 0162 7a06 0a016112 0163', { labels: { a: 'c' } }],
  ['the last member of a oneof', '8a010161 920100', { left: undefined, right: zero() }],
  ['the last member of a oneof, other way', '920100 8a010161', { left: 'a', right: undefined }],
  ['an optional zero', '807d00', { maybe: 0 }],
  ['2^64-1 as a number', '48ffffffffffffffffff01', { limit: 2 ** 64 }],
  ['a map of messages without value', '820103 0a0161', { named: { a: zero() } }],
];

for (const [name, bytes, expected] of tolerated) {
  test(`accepted: ${name}`, () => assert.deepEqual(decode(Sample, hex(bytes)), { ...zero(), ...expected }));
}

test('a message that comes in two parts is put together', () => {
  const parts = [
    { child: { text: 'a', small: 1, words: ['x'], labels: { a: '1' }, child: { count: 1 }, left: 'l' } },
    { child: { small: 2, words: ['y'], labels: { b: '2' }, child: { flag: true }, right: {} } },
  ];
  const bytes = Buffer.concat(parts.map((part) => encode(Sample, part)));
  assert.deepEqual(decode(Sample, bytes).child, {
    ...zero(),
    text: 'a',
    small: 2,
    words: ['x', 'y'],
    labels: { a: '1', b: '2' },
    child: { ...zero(), count: 1, flag: true },
    right: zero(),
  });
});

test('a map key called __proto__ is a key', () => {
  const bytes = hex('7a0e 0a095f5f70726f746f5f5f 120161');
  const { labels } = decode(Sample, bytes);
  assert.deepEqual(Object.entries(labels), [['__proto__', 'a']]);
  assert.equal(Object.getPrototypeOf(labels), Object.prototype);
  assert.equal(hexOf(encode(Sample, { labels })), hexOf(bytes));
});

test('decoded bytes are a copy: the message they came in can be reused', () => {
  const bytes = Buffer.from(encode(Sample, { data: Uint8Array.of(1, 2) }));
  const { data } = decode(Sample, bytes);
  bytes.fill(0);
  assert.deepEqual(data, Uint8Array.of(1, 2));
});

const encoded: readonly [string, Parameters<typeof encode<Sample>>[1], string][] = [
  ['nothing', {}, ''],
  ['zero values', zero(), ''],
  ['an empty message', { child: {} }, '5a00'],
  ['an empty oneof member', { left: '' }, '8a0100'],
  ['an optional zero', { maybe: 0 }, '807d00'],
  ['-1', { small: -1 }, '20ffffffffffffffffff01'],
  ['the least int64', { time: -(2n ** 63n) }, '3080808080808080808001'],
  ['the largest int64', { time: 2n ** 63n - 1n }, '30ffffffffffffffff7f'],
  ['the largest safe integer', { size: Number.MAX_SAFE_INTEGER }, '40ffffffffffffff0f'],
  ['packed numbers', { numbers: [1, 300] }, '6a0301ac02'],
  ['negative zero', { share: -0 }, '510000000000000080'],
];

for (const [name, value, expected] of encoded) {
  test(`encodes ${name}`, () => assert.equal(hexOf(encode(Sample, value)), expected));
}

const unfit: readonly [string, unknown, RegExp][] = [
  ['a fraction', { small: 1.5 }, /test\.Sample\.small: 1\.5 \(number\) does not fit int32/],
  ['NaN', { size: Number.NaN }, /size: NaN/],
  ['too large for int32', { small: 2 ** 31 }, /small: 2147483648/],
  ['negative uint32', { count: -1 }, /count: -1/],
  ['too large for int64', { time: 2n ** 63n }, /time: 9223372036854775808/],
  ['a number as text', { text: 5 }, /text: 5 \(number\) does not fit string/],
  ['text as bytes', { data: 'x' }, /data: x \(string\) does not fit bytes/],
  ['null in a list', { words: [null] }, /words: object \(object\) does not fit string/],
  ['text as message', { child: 'x' }, /child: x/],
  ['a number as bool', { flag: 1 }, /flag: 1/],
];

for (const [name, value, expected] of unfit) {
  test(`refuses to encode ${name}`, () => {
    assert.throws(
      () => encode(Sample, value as never),
      (error) => error instanceof CodedError && error.code === 'invalid' && expected.test(error.message),
    );
  });
}

test('messages larger than the first buffer', () => {
  const value = { text: 'x'.repeat(100_000), words: Array.from({ length: 3000 }, (_, index) => `word ${index}`) };
  const back = decode(Sample, encode(Sample, value));
  assert.equal(back.text, value.text);
  assert.deepEqual(back.words, value.words);
});
