import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { createPullProgress } from './progress.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('pull progress is told while the pull goes on, also after its loop has failed, and ends with it', async () => {
  const clock = createManualClock();
  const supervisor = createTestSupervisor(clock, { beforeRound: throwOnce('pull progress') });
  const progress = createPullProgress({ clock, supervisor, downloadsOf: () => Promise.resolve(undefined) });
  const told: string[] = [];
  {
    using _ = progress.watch('i', (message) => told.push(message));
    await settle();
    await clock.advance(200);
    assert.equal(told.length, 1, 'what failed is made up for');
    await clock.advance(60_000);
    assert.match(told.at(-1) ?? '', /^Still pulling image "i" after 1m/);
  }
  const before = told.length;
  await clock.advance(600_000);
  assert.equal(told.length, before);
  assert.equal(clock.sleepers(), 0);
});
