import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../base/clock.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createStallWatch } from './stall-watch.ts';

/** A clock that goes on while the event loop stands still: timers that are due fire late. */
function setUp() {
  const manual = createManualClock(0);
  let stood = 0;
  const clock: Clock = { ...manual, mono: () => manual.mono() + stood };
  const block = (ms: number) => {
    stood += ms;
  };
  return { stalls: createStallWatch(clock), advance: manual.advance, block };
}

test('a stall is seen by checks that were under way, not by those that begin after it', async () => {
  const { stalls, advance, block } = setUp();
  using during = stalls.begin();
  await advance(120);
  assert.equal(during.stalled(), false);
  block(400);
  assert.equal(during.stalled(), true, 'also before the event loop has turned');
  await advance(40);
  assert.equal(during.stalled(), true);
  using after = stalls.begin();
  await advance(60);
  assert.equal(after.stalled(), false);
});

test('a check that begins between a stall and the late beat has not seen it', async () => {
  const { stalls, advance, block } = setUp();
  using during = stalls.begin();
  block(400);
  using after = stalls.begin();
  await advance(60);
  assert.equal(after.stalled(), false);
  assert.equal(during.stalled(), true);
});

test('a late timer of less than 200 ms is no stall', async () => {
  const { stalls, advance, block } = setUp();
  using during = stalls.begin();
  for (let times = 0; times < 5; times += 1) {
    block(150);
    await advance(50);
  }
  assert.equal(during.stalled(), false);
});

test('it watches only while a check is under way', async () => {
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
