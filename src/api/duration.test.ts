import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDuration, parseDuration } from './duration.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const good: readonly (readonly [text: string, milliseconds: number, canonical: string])[] = [
  ['0', 0, '0s'],
  ['-0', 0, '0s'],
  ['0s', 0, '0s'],
  ['1ns', 1e-6, '1ns'],
  ['1us', 1e-3, '1µs'],
  ['1µs', 1e-3, '1µs'],
  ['1μs', 1e-3, '1µs'],
  ['1500us', 1.5, '1.5ms'],
  ['100ms', 100, '100ms'],
  ['1.5s', 1500, '1.5s'],
  ['.5s', 500, '500ms'],
  ['1.s', 1000, '1s'],
  ['+5s', 5000, '5s'],
  ['-1s', -1000, '-1s'],
  ['-1m30s', -90_000, '-1m30s'],
  ['60s', MINUTE, '1m0s'],
  ['1h2m3.5s', HOUR + 2 * MINUTE + 3500, '1h2m3.5s'],
  ['4h', 4 * HOUR, '4h0m0s'],
  ['1s1s', 2000, '2s'],
  ['1.0000000019s', 1000.000001, '1.000000001s'],
  ['2562047h47m16s', 9223372036000, '2562047h47m16s'],
];

test('reads what Go reads and prints what Go prints', () => {
  for (const [text, milliseconds, canonical] of good) {
    assert.deepEqual(parseDuration(text), { ok: true, value: milliseconds }, text);
    assert.equal(formatDuration(milliseconds), canonical, text);
  }
});

test('refuses what is no duration and says why', () => {
  const bad = ['', ' ', '60', '1.5', '.', '-', '+', 's', '.s', '1x', '1S', '1h-1m', '--1s', '1 s', '1s ', '1e3s', '1d'];
  for (const text of bad) {
    const answer = parseDuration(text);
    assert.ok(!answer.ok, text);
    assert.ok(answer.problem.includes(JSON.stringify(text)), answer.problem);
  }
  const answer = parseDuration('60');
  assert.match(answer.ok ? '' : answer.problem, /the unit is missing/);
});

test('stops at 64 bits of nanoseconds', () => {
  assert.ok(parseDuration('9223372036854775807ns').ok);
  assert.ok(parseDuration('-9223372036854775808ns').ok);
  assert.ok(!parseDuration('9223372036854775808ns').ok);
  assert.ok(!parseDuration('2562048h').ok);
  assert.ok(!parseDuration('-2562048h').ok);
});

test('what is printed reads back as the same value', () => {
  // As far as a number of milliseconds holds every nanosecond: some two weeks.
  const nanoseconds = fc.integer({ min: -(2 ** 50), max: 2 ** 50 });
  fc.assert(
    fc.property(nanoseconds, (count) => {
      const text = formatDuration(count / 1e6);
      const answer = parseDuration(text);
      assert.ok(answer.ok);
      assert.equal(formatDuration(answer.value), text);
      assert.equal(Math.round(answer.value * 1e6), count);
    }),
  );
});

test('no text makes it throw', () => {
  const parts = fc.constantFrom(
    '1',
    '0',
    '.',
    '-',
    '+',
    'h',
    'm',
    's',
    'ms',
    'ns',
    'µs',
    'e',
    ' ',
    '٣',
    '99999999999999999999',
  );
  const almost = fc.array(parts, { maxLength: 8 }).map((list) => list.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (text) => {
      const answer = parseDuration(text);
      assert.ok(answer.ok ? Number.isFinite(answer.value) : answer.problem.length > 0);
    }),
  );
});

test('an infinite duration has no text', () => {
  assert.throws(() => formatDuration(Number.NaN), RangeError);
});
