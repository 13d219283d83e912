import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createEventLoopLag } from './event-loop-lag.ts';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('sees how long the event loop stood still', async () => {
  const lag = createEventLoopLag();
  assert.deepEqual(lag.read(), { max: 0, p99: 0 });
  await lag.start(new AbortController().signal);
  await sleep(250);
  const end = performance.now() + 600;
  while (performance.now() < end) Math.sqrt(end);
  await sleep(150);
  const { max } = lag.read();
  assert.ok(max > 400 && max < 5000, `${max} ms`);
  lag.reset();
  assert.ok(lag.read().max < max);
  await lag.stop?.();
});
