import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecentLayers } from './recent-layers.ts';

const never = new AbortController().signal;
const use = { time: 0, usedBytes: 1, inodesUsed: 1, mountPoint: undefined };

function setUp() {
  const world = { now: 0, asked: 0, ids: ['a'], failures: 0, isBroken: false };
  const layers = createRecentLayers({
    now: () => world.now,
    ask: () => {
      world.asked += 1;
      if (world.isBroken) return Promise.reject(new Error('unavailable'));
      return Promise.resolve(new Map(world.ids.map((id) => [id, use])));
    },
    onFailure: () => {
      world.failures += 1;
    },
  });
  return { world, layers };
}

test('an answer of the last seconds is used again, and renewed while it is used', async () => {
  const { world, layers } = setUp();
  await layers.of(['a'], never);
  world.now = 4000;
  await layers.of(['a'], never);
  assert.equal(world.asked, 1);
  world.now = 10_000;
  await layers.of(['a'], never);
  assert.equal(world.asked, 2, 'renewed in the background');
  world.now = 40_000;
  await layers.of(['a'], never);
  assert.equal(world.asked, 3, 'too old to be used');
});

test('a container that is not in it is asked for at once', async () => {
  const { world, layers } = setUp();
  await layers.of(['a'], never);
  world.ids = ['a', 'b'];
  assert.ok((await layers.of(['a', 'b'], never)).has('b'));
  assert.equal(world.asked, 2);
});

test('a failure in the background is reported, and one of a request is its own', async () => {
  const { world, layers } = setUp();
  await layers.of(['a'], never);
  world.isBroken = true;
  world.now = 10_000;
  assert.ok((await layers.of(['a'], never)).has('a'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(world.failures, 1);
  world.now = 40_000;
  await assert.rejects(layers.of(['a'], never));
  layers.stop();
});
