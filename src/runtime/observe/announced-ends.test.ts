import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../base/manual-clock.ts';
import { BELIEVED_FOR_MS, createAnnouncedEnds } from './announced-ends.ts';

function setUp() {
  const clock = createManualClock();
  return { clock, ends: createAnnouncedEnds(clock) };
}

const end = { exitCode: 1, finishedAt: 5 };

test('an end is known until the runtime reports it; announced twice, the first counts', async () => {
  const { clock, ends } = setUp();
  assert.equal(ends.get('a'), undefined);
  ends.note('a', end);
  await clock.advance(10);
  ends.note('a', { exitCode: 2, finishedAt: 6 });
  assert.equal(ends.get('a')?.exitCode, 1);
  ends.forget(['b']);
  assert.equal(ends.get('a')?.finishedAt, 5);
  ends.forget(['a', 'b']);
  assert.equal(ends.get('a'), undefined);
});

test('a runtime that does not follow its own event is believed again in the end', async () => {
  const { clock, ends } = setUp();
  ends.note('old', end);
  await clock.advance(BELIEVED_FOR_MS - 1);
  ends.note('young', end);
  assert.equal(ends.get('old')?.exitCode, 1);
  await clock.advance(1);
  assert.equal(ends.get('old'), undefined);
  assert.equal(ends.get('young')?.exitCode, 1);
  assert.equal(ends.lookAgainIn(['old'], false), undefined);
});

test('where an event follows, the next reading is the last one', async () => {
  const { clock, ends } = setUp();
  ends.note('a', end);
  await clock.advance(1000);
  ends.note('b', end);
  assert.equal(ends.lookAgainIn([], true), undefined);
  assert.equal(ends.lookAgainIn(['c'], true), undefined);
  assert.equal(ends.lookAgainIn(['b'], true), BELIEVED_FOR_MS);
  assert.equal(ends.lookAgainIn(['a', 'b', 'c'], true), BELIEVED_FOR_MS - 1000);
});

test('where no event follows, it is read often while it is due and less and less after', async () => {
  const { clock, ends } = setUp();
  ends.note('a', end);
  const waits: number[] = [];
  const wait = async () => {
    const ms = ends.lookAgainIn(['a'], false) ?? Number.NaN;
    waits.push(ms);
    await clock.advance(ms);
  };
  for (let look = 0; look < 3; look += 1) await wait();
  assert.deepEqual(waits, [100, 100, 200]);
  // It was cleared away: the runtime is about to say so.
  ends.noteDeleted('a');
  for (let look = 0; look < 5; look += 1) await wait();
  assert.deepEqual(waits.slice(3), [8, 8, 16, 32, 64]);
  while (ends.get('a') !== undefined) await wait();
  assert.ok(waits.length < 25, `${waits.length} looks`);
  ends.noteDeleted('a');
  assert.equal(ends.get('a'), undefined, 'nothing is known of it any more');
});
