import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addReading, isDue, rateOf, type UsageHistory } from './rate.ts';

const after = (...readings: readonly (readonly [at: number, usage: number])[]) =>
  readings.reduce<UsageHistory | undefined>((history, [at, usage]) => addReading(history, { at, usage }), undefined);

test('a rate needs two readings', () => {
  assert.equal(rateOf(undefined), undefined);
  assert.equal(rateOf(after([0, 5])), undefined);
  // Half a core: 5 s of CPU time in 10 s.
  assert.equal(rateOf(after([0, 0], [10_000, 5e9])), 500_000_000);
});

test('readings that follow at once do not shorten the span', () => {
  const history = after([0, 0], [10_000, 5e9], [10_010, 5e9]);
  assert.equal(rateOf(history), Math.floor((5e9 / 10_010e6) * 1e9));
  assert.equal(rateOf(after([0, 0], [10_000, 5e9], [20_000, 6e9])), 100_000_000);
});

test('a reading from long ago is no base, and a counter that goes back is a new cgroup', () => {
  assert.equal(rateOf(after([0, 0], [100_000, 5e9])), undefined);
  assert.equal(rateOf(after([0, 7e9], [10_000, 5e9])), undefined);
});

test('a busy cgroup is read each time, an idle one every fourth time, and before its last reading is too old', () => {
  const at = (seconds: number, usage: number) => ({ at: seconds * 1000, usage });
  const busy = { base: at(0, 0), last: at(10, 1e9) };
  const idle = { base: at(0, 0), last: at(10, 0) };
  assert.ok(isDue(undefined, 0, 10_000) && isDue({ base: undefined, last: at(0, 0) }, 10_000, 10_000));
  assert.deepEqual(
    [20, 30, 40, 50].map((second) => isDue(busy, second * 1000, 10_000)),
    [true, true, true, true],
  );
  assert.deepEqual(
    [20, 30, 40, 50].map((second) => isDue(idle, second * 1000, 10_000)),
    [false, false, false, true],
  );
  assert.deepEqual(
    [30, 50].map((second) => isDue(idle, second * 1000, 40_000)),
    [true, true],
  );
});
