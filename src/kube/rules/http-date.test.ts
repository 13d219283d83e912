import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseHttpDate } from './http-date.ts';

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
