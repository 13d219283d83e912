import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMicroTime, formatNanoTime, formatTimestamp, parseTimestamp } from './timestamp.ts';

const known: readonly (readonly [number, string])[] = [
  [0, '1970-01-01T00:00:00Z'],
  [-1, '1969-12-31T23:59:59Z'],
  [951_782_399_999, '2000-02-28T23:59:59Z'],
  [951_782_400_000, '2000-02-29T00:00:00Z'],
  [4_107_542_400_000, '2100-03-01T00:00:00Z'],
  [1_794_737_178_776, '2026-11-15T10:06:18Z'],
];

for (const [ms, text] of known) {
  test(`${ms} ms is ${text}`, () => assert.equal(formatTimestamp(ms), text));
}

test('every day from 1583 to 2500 agrees with the language’s own calendar, there and back', () => {
  for (let day = -141_000; day < 194_000; day += 1) {
    const ms = day * 86_400_000 + (day % 1000) * 1000 + 86_400_000;
    const text = `${new Date(ms).toISOString().slice(0, 19)}Z`;
    if (formatTimestamp(ms) !== text) assert.equal(formatTimestamp(ms), text);
    if (parseTimestamp(text) !== ms) assert.equal(parseTimestamp(text), ms);
  }
});

test('a MicroTime has six digits after the point', () =>
  assert.equal(formatMicroTime(1.25), '1970-01-01T00:00:00.001250Z'));

test('a time to the nanosecond has nine digits', () =>
  assert.equal(formatNanoTime(1_700_000_000_123.9), '2023-11-14T22:13:20.123000000Z'));

test('fractions and zones are read', () => {
  assert.equal(parseTimestamp('2026-11-15T10:07:58.776504297Z'), Date.parse('2026-11-15T10:07:58.776Z'));
  assert.equal(parseTimestamp('2026-11-15T10:07:58+02:30'), Date.parse('2026-11-15T07:37:58Z'));
  assert.equal(parseTimestamp('2026-11-15T10:07:58-02:30'), Date.parse('2026-11-15T12:37:58Z'));
});

for (const text of ['', 'now', '2026-13-01T00:00:00Z', '2026-02-29T00:00:00Z', '2026-01-01', '2026-01-01T24:00:00Z']) {
  test(`${JSON.stringify(text)} is no time`, () => assert.equal(parseTimestamp(text), undefined));
}
