import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import { createMemory } from './memory.ts';

const waiting = (reason: string) => ({ reason, message: 'm' });

test('memory: a container whose start failed is held back for a while', async () => {
  const clock = createManualClock();
  const memory = createMemory(clock);
  memory.note('a', waiting('ErrImagePull'), 1000);
  assert.equal(memory.isHeldBack('a'), true);
  assert.equal(memory.nextTry(), 1000);
  await clock.advance(1000);
  assert.equal(memory.isHeldBack('a'), false);
});

test('memory: what waits for the thing that came is tried at once, the rest is held back', () => {
  const memory = createMemory(createManualClock());
  memory.note('a', waiting('CreateContainerConfigError'), 1000);
  memory.note('b', waiting('ErrImagePull'), 2000);
  assert.equal(memory.release('RunContainerError'), false);
  assert.equal(memory.release('CreateContainerConfigError'), true);
  assert.deepEqual([memory.isHeldBack('a'), memory.isHeldBack('b')], [false, true]);
  assert.equal(memory.snapshot().get('a')?.waiting?.reason, 'CreateContainerConfigError', 'shown until it has started');
  assert.equal(memory.nextTry(), 2000);
});
