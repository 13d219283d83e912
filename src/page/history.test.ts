import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from './history.ts';
import type { Rates } from './rules/rates.ts';
import type { Point } from './rules/series.ts';

const point = (cpu: number): Point => [cpu, 1, null, null, null, null, null, null, null];
const rates = (time: number, pods: readonly string[]): Rates => ({
  time,
  node: point(time),
  pods: new Map(pods.map((uid) => [uid, { point: point(time), containers: new Map() }])),
});

test('an hour is kept, and no more', () => {
  const history = createHistory();
  for (let round = 0; round < 1000; round += 1) history.add(rates(round, ['a']));
  const { times, points } = history.node();
  assert.deepEqual([times.length, times[0], times.at(-1)], [240, 760, 999]);
  assert.deepEqual(points.at(-1), point(999));
  assert.equal(history.pod('a')?.times.length, 240);
});

test('a pod that was away for some time has gaps, and not the values of an hour ago', () => {
  const history = createHistory();
  for (let round = 0; round < 240; round += 1) history.add(rates(round, ['a']));
  for (let round = 240; round < 250; round += 1) history.add(rates(round, []));
  history.add(rates(250, ['a']));
  const { times, points } = history.pod('a') ?? { times: [], points: [] };
  assert.equal(times.at(-1), 250);
  assert.deepEqual(points.at(-1), point(250));
  assert.deepEqual(points.at(-2), [null, null, null, null, null, null, null, null, null]);
  assert.deepEqual(points.at(-12), point(239));
});

test('of a pod that ended an hour ago nothing is kept, and never of too many', () => {
  const history = createHistory();
  history.add(rates(0, ['a']));
  for (let round = 1; round <= 240; round += 1) history.add(rates(round, []));
  assert.equal(history.pod('a'), undefined);
  const many = Array.from({ length: 600 }, (_, index) => `p${index}`);
  history.add(rates(241, many));
  assert.notEqual(history.pod('p499'), undefined);
  assert.equal(history.pod('p500'), undefined);
});
