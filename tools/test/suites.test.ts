import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSuites, SUITES, stagesOf } from './suites.ts';

const namesOf = (names: readonly string[]) =>
  stagesOf(chooseSuites(names)).map((stage) => stage.map(({ name }) => name));

test('suites run one after the other, except those that run beside another one', () => {
  assert.deepEqual(namesOf([]), [
    ['unit'],
    ['process', 'lab'],
    ['node', 'bench'],
    ['alone'],
    ['attacks', 'ui'],
    ['cluster', 'guest'],
  ]);
});

test('a suite that was chosen without the one beside it runs by itself', () => {
  assert.deepEqual(namesOf(['bench', 'guest']), [['bench'], ['guest']]);
  assert.throws(() => chooseSuites(['gest']), /no suite named gest/);
});

test('no suite runs beside one that does not exist or that runs beside another', () => {
  for (const { beside } of SUITES) {
    if (beside === undefined) continue;
    assert.equal(SUITES.find(({ name }) => name === beside)?.beside, undefined, beside);
    assert.ok(
      SUITES.some(({ name }) => name === beside),
      beside,
    );
  }
});
