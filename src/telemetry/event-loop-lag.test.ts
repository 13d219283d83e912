import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createEventLoopLag, type DelayHistogram } from './event-loop-lag.ts';

it('shows how much later than planned the event loop ran', async () => {
  const calls: string[] = [];
  const delays = { max: 700e6, p99: 90e6 };
  const histogram: DelayHistogram = {
    get max() {
      return delays.max;
    },
    percentile: () => delays.p99,
    enable: () => calls.push('enable') > 0,
    disable: () => calls.push('disable') > 0,
    reset: () => {
      delays.max = 0;
    },
  };
  const lag = createEventLoopLag(({ resolution }) => {
    calls.push(`every ${resolution} ms`);
    return histogram;
  });
  assert.deepEqual(lag.read(), { max: 0, p99: 0 }, 'before it begins');
  await lag.start(new AbortController().signal);
  assert.deepEqual(lag.read(), { max: 600, p99: 0 }, 'a reading on time is late by nothing');
  lag.reset();
  assert.equal(lag.read().max, 0);
  await lag.stop?.();
  assert.deepEqual(calls, ['every 100 ms', 'enable', 'disable']);
});
