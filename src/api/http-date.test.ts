import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatHttpDate, parseHttpDate } from './http-date.ts';

it('writes dates, also before 1970', () => {
  assert.equal(formatHttpDate(784_111_777_000), 'Sun, 06 Nov 1994 08:49:37 GMT');
  assert.equal(formatHttpDate(0), 'Thu, 01 Jan 1970 00:00:00 GMT');
  assert.equal(formatHttpDate(-1000), 'Wed, 31 Dec 1969 23:59:59 GMT');
});

describe('a Date header', () => {
  for (const [text, want] of [
    ['Sun, 15 Nov 2026 17:00:00 GMT', '2026-11-15T17:00:00.000Z'],
    ['Thu, 29 Feb 2024 23:59:59 GMT', '2024-02-29T23:59:59.000Z'],
    ['Sun, 15 Nov 2026 17:00:00 CET', undefined],
    ['Sun, 15 Foo 2026 17:00:00 GMT', undefined],
    ['Sun, 31 Feb 2026 17:00:00 GMT', undefined],
    ['2026-11-15T17:00:00Z', undefined],
    ['', undefined],
  ] as const) {
    it(JSON.stringify(text), () => {
      const parsed = parseHttpDate(text);
      assert.equal(parsed === undefined ? undefined : new Date(parsed).toISOString(), want);
    });
  }
});
