import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
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

test('memory: containers that wait for the object that changed may start at once, the others are held back', () => {
  const memory = createMemory(createManualClock());
  memory.note('a', waiting('CreateContainerConfigError'), 1000);
  memory.note('b', waiting('ErrImagePull'), 2000);
  assert.equal(memory.release('RunContainerError'), false);
  assert.equal(memory.release('CreateContainerConfigError'), true);
  assert.deepEqual([memory.isHeldBack('a'), memory.isHeldBack('b')], [false, true]);
  assert.equal(memory.snapshot().get('a')?.waiting?.reason, 'CreateContainerConfigError', 'shown until it has started');
  assert.equal(memory.nextTry(), 2000);
});

test('memory: a new image or new resources end the wait and the crash back-off of that container alone', () => {
  const memory = createMemory(createManualClock());
  const pod = (image: string, cpu: string): Pod => ({
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: {
      containers: [
        { name: 'a', image, resources: { requests: { cpu } } },
        { name: 'b', image: 'i' },
      ],
    },
  });
  const hold = () => {
    for (const name of ['a', 'b']) memory.note(name, waiting('ImagePullBackOff'), 1000);
    memory.noteCrashes(new Map(['a', 'b'].map((name) => [name, { waitMs: 40_000, since: 1 }])));
  };
  const held = () => [memory.isHeldBack('a'), memory.isHeldBack('b'), [...memory.crashes().keys()].join()];
  memory.follow(pod('bad', '1'));
  hold();
  memory.follow(pod('bad', '1'));
  assert.deepEqual(held(), [true, true, 'a,b'], 'a label or the like has changed');
  memory.follow(pod('good', '1'));
  assert.deepEqual(held(), [false, true, 'b']);
  assert.equal(memory.snapshot().get('a')?.waiting, undefined);
  hold();
  memory.follow(pod('good', '2'));
  assert.deepEqual(held(), [false, true, 'b']);
});
