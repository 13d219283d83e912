import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { createLimiter, createOpenLimiter } from './limiter.ts';

const { signal } = new AbortController();

describe('a limiter', () => {
  test('allows a burst, then a rate per second, urgent requests first and watches last', async () => {
    const clock = createManualClock();
    const limiter = createLimiter({ perSecond: 10, burst: 2 }, clock);
    const passed: string[] = [];
    const pass = (name: string, urgency: 'urgent' | 'request' | 'watch') =>
      limiter.pass(urgency, signal).then(() => void passed.push(name));
    const all = [
      pass('w1', 'watch'),
      pass('w2', 'watch'),
      pass('w3', 'watch'),
      pass('r1', 'request'),
      pass('r2', 'request'),
      pass('u1', 'urgent'),
    ];
    await clock.advance(0);
    assert.deepEqual(passed, ['w1', 'w2']);
    await clock.advance(100);
    assert.deepEqual(passed, ['w1', 'w2', 'u1']);
    await clock.advance(300);
    await Promise.all(all);
    assert.deepEqual(passed, ['w1', 'w2', 'u1', 'r1', 'r2', 'w3']);
    assert.equal(clock.sleepers(), 0);
  });

  test('forgets requests that were aborted', async () => {
    const clock = createManualClock();
    const limiter = createLimiter({ perSecond: 1, burst: 1 }, clock);
    await limiter.pass('request', signal);
    const own = new AbortController();
    const given = limiter.pass('request', own.signal);
    const next = limiter.pass('request', signal);
    own.abort('enough');
    await assert.rejects(given, (error) => error === 'enough');
    await clock.advance(1_000);
    await next;
    await assert.rejects(limiter.pass('request', own.signal), (error) => error === 'enough');
  });

  test('without a limit allows every request that is not aborted', async () => {
    const limiter = createOpenLimiter();
    await limiter.pass('request', signal);
    await assert.rejects(limiter.pass('request', AbortSignal.abort('enough')), (error) => error === 'enough');
  });
});
