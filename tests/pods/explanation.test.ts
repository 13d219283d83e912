/** What a view says of its pod while the pod is worked on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../src/api/ids.ts';
import { makePod, podWorld } from './pod-world.ts';

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!holds()) {
    assert.ok(performance.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

test('while a pod is worked on its view says how far it is', async (t) => {
  const pulled = Promise.withResolvers<void>();
  const image = { kind: 'ready', imageRef: 'image', user: { uid: 0, username: '' } } as const;
  await using world = await podWorld(t, { images: { ensure: () => pulled.promise.then(() => image) } });
  const { pods } = world;
  const open = () =>
    (pods.view(podUid('uid-a'))?.explanation.steps ?? [])
      .filter(({ state }) => state.kind !== 'done')
      .map(({ subject, state }) => `${subject.kind} ${state.kind}`);
  pods.setDesired([makePod('a')], true);
  const waiting = ['container-config', 'container-create', 'container-start'].map((kind) => `${kind} waiting`);
  await until('it pulls', () => open()[0] === 'image under-way');
  assert.deepEqual(open(), ['image under-way', ...waiting]);
  pulled.resolve();
  await until('it runs', () => open().length === 0);
  pods.setDesired([], true);
  await until('it is gone', () => pods.view(podUid('uid-a')) === undefined);
});
