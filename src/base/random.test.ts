import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomHex, randomNumber } from './random.ts';

test('random text has the asked length and differs; random numbers are whole and not negative', () => {
  assert.match(randomHex(4), /^[0-9a-f]{8}$/);
  assert.notEqual(randomHex(16), randomHex(16));
  const number = randomNumber();
  assert.ok(Number.isInteger(number) && number >= 0 && number < 2 ** 32);
});
