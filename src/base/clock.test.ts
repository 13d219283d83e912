import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSystemClock } from './clock.ts';
import { createManualClock } from './manual-clock.ts';

const forever = new AbortController().signal;

test('the system clock sleeps about as long as requested', async () => {
  const clock = createSystemClock();
  const start = clock.mono();
  await clock.sleep(30, forever);
  assert.ok(clock.mono() - start >= 29);
});

test('a sleep ends with the reason of its signal', async () => {
  for (const clock of [createSystemClock(), createManualClock()]) {
    const reason = new Error('the pod must go');
    const controller = new AbortController();
    const sleeping = clock.sleep(60_000, controller.signal);
    controller.abort(reason);
    await assert.rejects(sleeping, reason);
    await assert.rejects(clock.sleep(1, controller.signal), reason);
  }
});

test('the manual clock wakes sleepers in order, also those that sleep again', async () => {
  const clock = createManualClock(1000);
  const woken: string[] = [];
  const late = clock.sleep(20, forever).then(() => woken.push(`late at ${clock.now()}`));
  const twice = (async () => {
    await clock.sleep(5, forever);
    await clock.sleep(5, forever);
    woken.push(`twice at ${clock.now()}`);
  })();
  assert.equal(clock.sleepers(), 2);
  await clock.advance(19);
  assert.deepEqual(woken, ['twice at 1010']);
  await clock.advance(1);
  await Promise.all([late, twice]);
  assert.deepEqual(woken, ['twice at 1010', 'late at 1020']);
  assert.equal(clock.sleepers(), 0);
});
