import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { codeOf } from './errors.ts';
import { createManualClock } from './manual-clock.ts';
import { linkSignal, withDeadline } from './signal.ts';

test('a linked signal follows whichever parent aborts first, with its reason', () => {
  const [a, b] = [new AbortController(), new AbortController()];
  const linked = linkSignal(a.signal, b.signal);
  b.abort('evicted');
  a.abort('too late');
  assert.equal(linked.signal.reason, 'evicted');
});

test('a parent that has aborted already aborts the link at once', () => {
  assert.equal(linkSignal(AbortSignal.abort('gone')).signal.reason, 'gone');
});

test('a disposed link leaves nothing behind on its parents', () => {
  const parent = new AbortController();
  for (let i = 0; i < 100; i++) {
    using linked = linkSignal(parent.signal);
    assert.equal(linked.signal.aborted, false);
  }
  assert.equal(getEventListeners(parent.signal, 'abort').length, 0);
});

test('a deadline aborts with a deadline error that names the call', async () => {
  const clock = createManualClock();
  using call = withDeadline(clock, 100, 'Version');
  await clock.advance(99);
  assert.equal(call.signal.aborted, false);
  await clock.advance(1);
  assert.equal(codeOf(call.signal.reason), 'deadline');
  assert.match(String(call.signal.reason), /Version: no answer within 100 ms/);
});

test('a call that ended in time leaves no timer', () => {
  const clock = createManualClock();
  {
    using call = withDeadline(clock, 100, 'Version');
    assert.equal(call.signal.aborted, false);
    assert.equal(clock.sleepers(), 1);
  }
  assert.equal(clock.sleepers(), 0);
});
