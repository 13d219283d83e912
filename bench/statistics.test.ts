import assert from 'node:assert/strict';
import { test } from 'node:test';
import { last, median, ninetieth, percentile } from './statistics.ts';

const cases: readonly { samples: readonly number[]; median: number; ninetieth: number; last: number }[] = [
  { samples: [7], median: 7, ninetieth: 7, last: 7 },
  { samples: [2, 1], median: 1.5, ninetieth: 1.9, last: 2 },
  { samples: [10, 9, 1], median: 9, ninetieth: 9.8, last: 10 }, // by number, not by text
  { samples: [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100], median: 50, ninetieth: 90, last: 100 },
];

for (const { samples, ...expected } of cases) {
  test(`of ${samples.join(', ')}`, () => {
    const found = { median: median(samples), ninetieth: ninetieth(samples), last: last(samples) };
    for (const name of ['median', 'ninetieth', 'last'] as const) {
      assert.ok(Math.abs(found[name] - expected[name]) < 1e-9, `${name}: ${found[name]}, not ${expected[name]}`);
    }
  });
}

test('the samples stay in their order', () => {
  const samples = [3, 1, 2];
  median(samples);
  assert.deepEqual(samples, [3, 1, 2]);
});

test('nothing has no percentile, and shares are between 0 and 1', () => {
  assert.throws(() => median([]), /no samples/);
  for (const share of [-0.1, 1.1, Number.NaN]) assert.throws(() => percentile([1], share), /allowed are 0 to 1/);
});
