import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '../base/errors.ts';
import { isInterruption } from './runtime-failure.ts';

const lost = new CodedError('unavailable', 'the connection was lost before an answer');
const notReady = new CodedError('unavailable', 'server is not initialized yet', {
  data: { grpcStatus: 2, notReady: true },
});
const answered = new CodedError('unavailable', 'rpc error: code = Unavailable desc = 503', {
  data: { grpcStatus: 14 },
});
const broken = new CodedError('internal', 'no such image', { data: { grpcStatus: 2 } });

test('a call without an answer says nothing about the pod; an answer does', () => {
  assert.deepEqual(
    [lost, notReady, answered, broken].map((error) => isInterruption(error)),
    [true, true, false, false],
  );
  assert.equal(isInterruption(new Error('a bug')), false);
});

test('whatever a cancelled call gives, it was interrupted', () => {
  const { signal } = { signal: AbortSignal.abort('stopping') };
  assert.equal(isInterruption(broken, signal), true);
  assert.equal(isInterruption(broken, new AbortController().signal), false);
});
