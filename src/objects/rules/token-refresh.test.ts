import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenRefreshAt } from './token-refresh.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

// Life, random number, seconds after the issue at which it is renewed.
const CASES: readonly (readonly [string, number, number, number])[] = [
  ['an hour: at four fifths', HOUR, 0, 2880],
  ['the usual 3607 s, a fifth cut to whole seconds', 3607, 0, 3607 - 721],
  ['the shortest', 600, 0, 480],
  ['up to ten seconds sooner, whole ones', HOUR, 0.59, 2880 - 5],
  ['never a whole ten seconds', HOUR, 0.9999, 2880 - 9],
  ['a day: four fifths come first', DAY, 0, 0.8 * DAY],
  ['a year: after a day', 365 * DAY, 0, DAY],
  ['a year, sooner by a random time', 365 * DAY, 0.31, DAY - 3],
];

for (const [name, lifeSeconds, random, expected] of CASES) {
  test(`token refresh: ${name}`, () => {
    const issuedAt = 1_700_000_000_000;
    const expiresAt = issuedAt + lifeSeconds * 1000;
    assert.equal((tokenRefreshAt({ expiresAt, lifeSeconds, random }) - issuedAt) / 1000, expected);
  });
}
