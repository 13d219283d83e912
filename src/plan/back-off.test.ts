import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BACK_OFF, exited } from '../../tests/plan/builders.ts';
import type { CrashRecord } from '../model/plan.ts';
import { judgeBackOff } from './back-off.ts';

/** Lets a container crash again and again, each time after it ran for `ranMs`, and returns the waits. */
function waits(ranMs: number, crashes: number, settings = BACK_OFF): readonly number[] {
  const found: number[] = [];
  let record: CrashRecord | undefined;
  let now = 1_000_000;
  for (let crash = 0; crash < crashes; crash += 1) {
    const crashed = exited('c', 1, { startedAt: now - ranMs, finishedAt: now });
    let verdict = judgeBackOff({ crashed, record, settings, now });
    if (verdict.kind === 'wait') {
      assert.equal(judgeBackOff({ crashed, record, settings, now: verdict.until - 1 }).kind, 'wait');
      found.push(verdict.until - now);
      now = verdict.until;
      verdict = judgeBackOff({ crashed, record, settings, now });
    } else found.push(0);
    assert.equal(verdict.kind, 'start');
    if (verdict.kind === 'start') record = verdict.record;
    now += ranMs + 1;
  }
  return found;
}

test('the first crash is forgiven, then the wait doubles up to the maximum', () => {
  assert.deepEqual(waits(1000, 8), [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

test('a smaller maximum is kept, also below the first wait', () => {
  assert.deepEqual(waits(1000, 4, { ...BACK_OFF, maxMs: 15_000 }), [0, 10_000, 15_000, 15_000]);
  assert.deepEqual(waits(1000, 3, { ...BACK_OFF, maxMs: 1_000 }), [0, 1_000, 1_000]);
});

test('a container that ran for more than ten minutes begins anew', () => {
  assert.deepEqual(waits(600_001, 3), [0, 0, 0]);
  assert.deepEqual(waits(600_000, 3), [0, 10_000, 20_000]);
});

test('one that never ran is not taken for one that ran since 1970', () => {
  const crashed = exited('c', 128, { startedAt: 0, finishedAt: 2_000_000 });
  const record = { waitMs: 10_000, since: 1 };
  assert.equal(judgeBackOff({ crashed, record, settings: BACK_OFF, now: 2_000_001 }).kind, 'wait');
});

test('a crash that has its answer is answered the same again, without a longer wait', () => {
  const crashed = exited('c', 1, { finishedAt: 5_000 });
  const record = { waitMs: 40_000, since: 5_000 };
  assert.deepEqual(judgeBackOff({ crashed, record, settings: BACK_OFF, now: 5_001 }), { kind: 'start', record });
});

test('without a crash there is nothing to wait for', () => {
  const record = { waitMs: 40_000, since: 5_000 };
  assert.deepEqual(judgeBackOff({ crashed: undefined, record, settings: BACK_OFF, now: 5_001 }), {
    kind: 'start',
    record,
  });
});
