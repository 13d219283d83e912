import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Figure } from './measure.ts';
import { failuresOf, type MeasuredMeasure, makeRows, type Outcome } from './rows.ts';

const FIGURES: Readonly<Record<string, Figure>> = { first: { text: 'first', unit: 'ms' } };
const value = (first: number): Outcome => ({ kind: 'values', values: { first } });
const failed: Outcome = { kind: 'failed', message: 'it did not' };

const rowOf = (outcomes: Partial<MeasuredMeasure['outcomes']>) => {
  const [row] = makeRows({
    name: 'm',
    figures: FIGURES,
    outcomes: { ours: [], reference: [], floor: [], ...outcomes },
  });
  assert.ok(row);
  return row;
};

test('a cell is the median of its rounds, the ratio ours by the reference', () => {
  const row = rowOf({ ours: [value(1), value(9), value(2)], reference: [value(8), value(4), value(1)] });
  assert.deepEqual(row.cells.ours, { kind: 'measured', value: 2, rounds: [1, 9, 2] });
  assert.equal(row.ratio, 0.5);
  assert.deepEqual(row.cells.floor, { kind: 'none' });
});

test('one failed round does not spoil the others, but is reported', () => {
  const outcomes = { ours: [failed, value(3)], reference: [value(3)], floor: [] };
  assert.deepEqual(rowOf(outcomes).cells.ours, { kind: 'measured', value: 3, rounds: [3] });
  assert.deepEqual(failuresOf({ name: 'm', figures: FIGURES, outcomes }), ['m, ours, round 1: it did not']);
});

test('without a value there is no ratio', () => {
  assert.deepEqual(rowOf({ ours: [failed] }).cells.ours, { kind: 'failed' });
  assert.deepEqual(rowOf({ ours: [{ kind: 'notBuilt' }] }).cells.ours, { kind: 'notBuilt' });
  assert.deepEqual(rowOf({ ours: [{ kind: 'values', values: {} }] }).cells.ours, { kind: 'none' });
  assert.equal(rowOf({ ours: [value(1)], reference: [failed] }).ratio, undefined);
  assert.equal(rowOf({ ours: [value(0)], reference: [value(0)] }).ratio, undefined);
});
