import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '../../base/errors.ts';
import { createSilentLogger } from '../../base/logger.ts';
import { createManualClock } from '../../base/manual-clock.ts';
import { createTestSupervisor } from '../../base/supervise-testing.ts';
import { createRelisting } from './relist.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function setUp(relist: () => Promise<void> = () => Promise.resolve()) {
  const clock = createManualClock();
  const living = new AbortController();
  const times: number[] = [];
  const relisting = createRelisting({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    longestMs: 60_000,
    relist: () => {
      times.push(clock.now() / 1000);
      return relist();
    },
  });
  const over = relisting.run(living.signal).then(
    () => 'ended',
    (error: unknown) => error,
  );
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      await clock.advance(1000);
      await settle();
    }
  };
  return { clock, living, times, relisting, over, pass };
}

test('often at first, then less and less, down to the pace at rest', async () => {
  const { times, pass } = setUp();
  await pass(200);
  assert.deepEqual(times, [2, 6, 14, 30, 62, 122, 182]);
});

test('after something was looked at, soon again', async () => {
  const { times, relisting, pass } = setUp();
  await pass(130);
  times.length = 0;
  relisting.noteActivity();
  relisting.noteActivity();
  await pass(16);
  assert.deepEqual(times, [132, 136, 144]);
  // However much goes on, not more often than at the shortest pace.
  times.length = 0;
  for (let second = 0; second < 10; second += 1) {
    relisting.noteActivity();
    await pass(1);
  }
  assert.deepEqual(times, [148, 150, 152, 154, 156]);
});

test('a list that fails is tried again; the end leaves no timer behind', async () => {
  const { times, clock, living, relisting, over, pass } = setUp(() =>
    Promise.reject(new CodedError('unavailable', 'away')),
  );
  await pass(7);
  assert.deepEqual(times, [2, 6]);
  living.abort(new Error('stopped'));
  await over;
  relisting.noteActivity();
  assert.equal(clock.sleepers(), 0);
});
