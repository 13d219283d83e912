import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createStallWatch } from './stall-watch.ts';

/** Nothing else of this thread runs meanwhile. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a stall is seen by those who were at work, not by those who begin after it', async () => {
  const clock = createSystemClock();
  const stalls = createStallWatch(clock);
  const never = new AbortController().signal;
  using during = stalls.begin();
  await clock.sleep(120, never);
  assert.equal(during.stalled(), false);
  block(400);
  assert.equal(during.stalled(), true, 'also before the event loop has turned');
  await clock.sleep(10, never);
  assert.equal(during.stalled(), true);
  using after = stalls.begin();
  await clock.sleep(60, never);
  assert.equal(after.stalled(), false);
});

test('who begins between a stall and the late beat has not seen it', async () => {
  const clock = createSystemClock();
  const stalls = createStallWatch(clock);
  using during = stalls.begin();
  block(400);
  using after = stalls.begin();
  await clock.sleep(60, new AbortController().signal);
  assert.equal(after.stalled(), false);
  assert.equal(during.stalled(), true);
});

test('it watches only while somebody is at work', async () => {
  const clock = createManualClock(0);
  const stalls = createStallWatch(clock);
  assert.equal(clock.sleepers(), 0);
  const one = stalls.begin();
  const two = stalls.begin();
  await clock.advance(1000);
  assert.equal(clock.sleepers(), 1);
  assert.equal(one.stalled(), false);
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  assert.equal(clock.sleepers(), 1);
  two[Symbol.dispose]();
  assert.equal(clock.sleepers(), 0);
  await clock.advance(5000);
  using three = stalls.begin();
  assert.equal(three.stalled(), false, 'the time when no one watched is no stall');
});
