import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createOrphanSweep } from './orphan-sweep.ts';
import { FIRST_SWEEP, sweepDirectories } from './rules/orphans.ts';

test('a directory is an orphan at the second sweep without a pod, and is counted until it is removed', () => {
  const known = new Set(['runs']);
  const directories = ['runs', 'left', 'lost+found', '..'];
  const first = sweepDirectories(FIRST_SWEEP, { directories, known });
  assert.deepEqual([first.orphans, first.left], [[], []]);
  const second = sweepDirectories(first.state, { directories, known });
  assert.deepEqual([second.orphans, second.left], [['left'], []]);
  const managed = sweepDirectories(second.state, { directories, known: new Set(['runs', 'left']) });
  assert.deepEqual([managed.orphans, managed.left], [[], ['left']], 'its worker can not remove it yet');
  const gone = sweepDirectories(managed.state, { directories: ['runs'], known });
  assert.deepEqual([gone.orphans, gone.left, gone.state.reported.size], [[], [], 0]);
  const begun = sweepDirectories(first.state, { directories, known: new Set(['runs', 'left']) });
  assert.deepEqual(begun.orphans, [], 'a pod that has just begun');
});

test('sweeps run soon after a pod is gone, again to confirm, and slowly otherwise', async (t) => {
  const clock = createManualClock();
  const stop = new AbortController();
  t.after(() => stop.abort('done'));
  const directories = ['a'];
  const reported: string[] = [];
  let lists = 0;
  let known: ReadonlySet<string> | undefined;
  const sweep = createOrphanSweep(
    { clock, log: createSilentLogger(), supervisor: createTestSupervisor(clock) },
    {
      list: () => {
        lists += 1;
        return Promise.resolve(directories);
      },
      known: () => known,
      onOrphans: (uids) => reported.push(...uids),
    },
  );
  const advance = async (ms: number) => {
    await clock.advance(ms);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  sweep.noticed();
  sweep.start(stop.signal);
  await advance(60_000);
  assert.equal(lists, 0, 'not before every source was heard');
  known = new Set();
  await advance(10_000);
  assert.deepEqual([lists, reported], [1, []]);
  await advance(10_000);
  assert.deepEqual([lists, reported], [2, ['a']]);
  assert.deepEqual(sweep.counts(), { orphans: 1, failed: 0 });
  await advance(59_999);
  assert.equal(lists, 2);
  await advance(1);
  assert.equal(lists, 3);
  assert.deepEqual(sweep.counts(), { orphans: 1, failed: 1 });
  directories.length = 0;
  sweep.noticed();
  await advance(10_000);
  assert.deepEqual([lists, sweep.counts()], [4, { orphans: 0, failed: 0 }]);
});
