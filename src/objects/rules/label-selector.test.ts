import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LabelSelector } from '../../api/meta.ts';
import { matchesLabels } from './label-selector.ts';

const labels = { app: 'web', tier: 'front' };
const rule = (key: string, operator: string, ...values: readonly string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

const CASES: readonly (readonly [string, LabelSelector | undefined, boolean])[] = [
  ['none fits nothing', undefined, false],
  ['an empty one fits all', {}, true],
  ['equal', { matchLabels: { app: 'web' } }, true],
  ['one of two differs', { matchLabels: { app: 'web', tier: 'back' } }, false],
  ['a label that is not there', { matchLabels: { other: 'x' } }, false],
  ['a name of the language is no label', { matchLabels: { constructor: 'x' } }, false],
  ['In', rule('app', 'In', 'db', 'web'), true],
  ['In others', rule('app', 'In', 'db'), false],
  ['In, absent', rule('other', 'In', 'x'), false],
  ['NotIn', rule('app', 'NotIn', 'web'), false],
  ['NotIn, absent', rule('other', 'NotIn', 'web'), true],
  ['Exists', rule('app', 'Exists'), true],
  ['Exists, absent', rule('toString', 'Exists'), false],
  ['DoesNotExist', rule('app', 'DoesNotExist'), false],
  ['DoesNotExist, absent', rule('other', 'DoesNotExist'), true],
  ['an unknown operator fits nothing', rule('app', 'Like', 'web'), false],
  ['both forms must fit', { matchLabels: { app: 'web' }, ...rule('tier', 'In', 'back') }, false],
];

for (const [name, selector, expected] of CASES) {
  test(`label selector: ${name}`, () => assert.equal(matchesLabels(selector, labels), expected));
}

test('label selector: an object without labels', () => {
  assert.equal(matchesLabels({}, undefined), true);
  assert.equal(matchesLabels({ matchLabels: { a: 'b' } }, undefined), false);
});
