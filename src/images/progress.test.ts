import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { createPullProgress } from './progress.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('pull progress is reported while the pull is under way, also after its loop has failed, and ends with it', async () => {
  const clock = createManualClock();
  const supervisor = createTestSupervisor(clock, { beforeRound: throwOnce('pull progress') });
  const progress = createPullProgress({ clock, supervisor, downloadsOf: () => Promise.resolve(undefined) });
  const reported: string[] = [];
  {
    using _ = progress.watch('i', (message) => reported.push(message));
    await settle();
    await clock.advance(200);
    assert.equal(reported.length, 1, 'the failed report is repeated');
    await clock.advance(60_000);
    assert.match(reported.at(-1) ?? '', /^Still pulling image "i" after 1m/);
  }
  const before = reported.length;
  await clock.advance(600_000);
  assert.equal(reported.length, before);
  assert.equal(clock.sleepers(), 0);
});
