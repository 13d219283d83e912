import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sameJson } from './same-json.ts';

const SAME: readonly [unknown, unknown][] = [
  [1, 1],
  ['a', 'a'],
  [null, undefined],
  [{}, {}],
  [{ a: 1, b: null }, { a: 1 }],
  [{ a: undefined }, {}],
  [
    { b: 2, a: 1 },
    { a: 1, b: 2 },
  ],
  [
    [1, { a: [] }],
    [1, { a: [] }],
  ],
];
const DIFFERENT: readonly [unknown, unknown][] = [
  [1, '1'],
  [0, null],
  [{}, null],
  [{}, []],
  [[], null],
  [
    [1, 2],
    [2, 1],
  ],
  [[1], [1, 2]],
  [{ a: {} }, {}],
  [{ a: { b: 1 } }, { a: { b: 2 } }],
  [{ a: 1 }, { a: 1, toString: 2 }],
  [JSON.parse('{"__proto__": 1}'), {}],
];

for (const [left, right] of SAME) {
  test(`${JSON.stringify(left)} says what ${JSON.stringify(right)} says`, () => {
    assert.ok(sameJson(left, right));
    assert.ok(sameJson(right, left));
  });
}
for (const [left, right] of DIFFERENT) {
  test(`${JSON.stringify(left)} says something else than ${JSON.stringify(right)}`, () => {
    assert.ok(!sameJson(left, right));
    assert.ok(!sameJson(right, left));
  });
}
