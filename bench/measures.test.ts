import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseMeasures, MEASURES } from './measures.ts';

test('names are unique and can be typed, and every measure has figures and something to run', () => {
  assert.equal(new Set(MEASURES.map(({ name }) => name)).size, MEASURES.length);
  for (const { name, figures, run, floor } of MEASURES) {
    assert.match(name, /^[a-z0-9-]+$/);
    assert.ok(Object.keys(figures).length > 0, name);
    assert.ok(run !== undefined || floor !== undefined, name);
  }
});

test('chosen by name, in their own order', () => {
  assert.deepEqual(
    chooseMeasures(['static-pod', 'start']).map(({ name }) => name),
    ['start', 'static-pod'],
  );
  assert.equal(chooseMeasures([]).length, MEASURES.length);
  assert.throws(() => chooseMeasures(['start', 'speed']), /no measure named speed; there are start, idle, /);
});
