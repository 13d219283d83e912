import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { runResync } from './resync.ts';

const MINUTE = 60_000;

test('pod resync wakes every pod once in the time, one after the other, and goes on after a failure', async () => {
  const clock = createManualClock();
  const woken: string[] = [];
  let uids = ['a', 'b', 'c'];
  const workers = () =>
    uids.map((uid) => ({ uid: podUid(uid), wake: (reason: string) => void woken.push(`${uid} ${reason}`) }));
  const end = new AbortController();
  const supervisor = createTestSupervisor(clock, { beforeRound: throwOnce('pod resync') });
  const running = runResync({ clock, supervisor, workers }, MINUTE, end.signal);
  await clock.advance(1000); // the back-off of the supervisor
  await clock.advance(MINUTE);
  assert.deepEqual(woken.slice(0, 3), ['a resync', 'b resync', 'c resync']);
  // Those that are gone are skipped, new ones come in the next round.
  uids = ['b', 'd'];
  await clock.advance(3 * MINUTE);
  assert.ok(woken.includes('d resync'));
  end.abort();
  await running;
});
