import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAlarm } from './alarm.ts';
import { createManualClock } from './manual-clock.ts';
import { createWakeBit } from './wake.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('wakes before a look are one; a wake during a look is kept; an abort ends the wait', async () => {
  const bit = createWakeBit();
  const signal = new AbortController();
  bit.wake();
  bit.wake();
  await bit.wait(signal.signal);
  let looked = 0;
  const second = bit.wait(signal.signal).then(() => {
    looked += 1;
  });
  await settle();
  assert.equal(looked, 0);
  bit.wake();
  await second;
  assert.equal(looked, 1);
  const third = bit.wait(signal.signal);
  signal.abort(new Error('stopping'));
  await assert.rejects(third, /stopping/);
});

test('an alarm rings once, at the earliest time asked for', async () => {
  const clock = createManualClock(1000);
  let rings = 0;
  const alarm = createAlarm(clock, () => {
    rings += 1;
  });
  alarm.ringAt(3000);
  alarm.ringAt(2000);
  alarm.ringAt(2500);
  assert.equal(clock.sleepers(), 1);
  await clock.advance(999);
  assert.equal(rings, 0);
  await clock.advance(1);
  assert.equal(rings, 1);
  await clock.advance(5000);
  assert.equal(rings, 1);
  alarm.ringAt(500);
  await clock.advance(0);
  assert.equal(rings, 2, 'a time that is past rings at once');
  alarm.ringAt(clock.now() + 10);
  alarm.clear();
  await clock.advance(100);
  assert.equal(rings, 2);
});
