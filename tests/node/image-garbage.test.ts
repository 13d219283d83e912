/** Images that no one needs are removed from a real containerd; those in use and pinned ones are not. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { lab } from '../lab/lab.ts';
import { BUSYBOX, eventually, labNode, never, SLEEPER, startPod } from './cri-support.ts';
import { imageOf, openImages, requestFor } from './images-support.ts';
import { RUNTIMES } from './runtimes.ts';

const GIB = 1024 ** 3;
const garbage = { highPercent: 85, lowPercent: 80, minimumAgeMs: 0, maximumAgeMs: 0, keep: [] };

for (const runtime of RUNTIMES) {
  test(`${runtime}: a full disk costs the unused images`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const registry = await lab.registry(node);
    await startPod(cri, node, SLEEPER);
    let availableBytes = 50 * GIB;
    const { images, events, rootDirectory } = await openImages(
      t,
      cri,
      { garbage },
      { diskOf: () => Promise.resolve({ capacityBytes: 100 * GIB, availableBytes }) },
    );
    const unused = await registry.push(imageOf('unused', 100_000), 'app/unused:1');
    await images.ensure({ ...requestFor(unused), signal: never });
    const tags = async () => (await cri.images.list(never)).flatMap(({ repoTags }) => repoTags);
    const isThere = async (name: string) => (await tags()).some((tag) => tag.startsWith(name));

    await images.collect(never);
    assert.ok(await isThere(unused), 'there is space enough');
    assert.ok(images.list().some(({ repoTags }) => repoTags.includes(unused)));

    availableBytes = 5 * GIB;
    await assert.rejects(images.collect(never), /Insufficient free disk space/);
    assert.equal(await isThere(unused), false);
    assert.ok(await isThere(BUSYBOX), 'a container uses it');
    const pinned = (await cri.images.list(never)).filter((image) => image.pinned);
    if (runtime === 'containerd-2.4')
      assert.ok(pinned.some(({ repoTags }) => repoTags.some((tag) => tag.includes('pause'))));
    assert.match(
      events.at(-1) ?? '',
      /^Warning FreeDiskSpaceFailed Insufficient free disk space on the node's image filesystem \(95% of 100\.0 GiB used\)\. Failed to free sufficient space by deleting unused images \(freed \d+ bytes\)\. Investigate disk usage, as it could be used by active images, logs, volumes, or other data\.$/,
    );

    availableBytes = 50 * GIB;
    const pulled = join(rootDirectory, 'image_manager', 'pulled');
    await eventually('nothing is remembered of an image that is gone', async () => {
      await images.collect(never);
      return (await readdir(pulled)).length === 0 ? true : undefined;
    });
  });
}

test('the real file system of the images is looked at', async (t) => {
  const { cri } = await labNode(t, 'containerd-2.4');
  const { images, events } = await openImages(t, cri, { garbage: { ...garbage, highPercent: 99, lowPercent: 98 } });
  await images.collect(never);
  assert.deepEqual(events, []);
});

for (const runtime of RUNTIMES) {
  test(`${runtime}: a pull that finds no space says so, makes space, and works then`, async (t) => {
    const { node, cri } = await labNode(t, runtime);
    const registry = await lab.registry(node);
    const store = join(node.containerd.root, 'io.containerd.content.v1.content');
    const mounted = await node.exec([
      'sh',
      '-c',
      `mount -t tmpfs -o size=2m tmpfs ${store} && mkdir -p ${store}/ingest ${store}/blobs/sha256`,
    ]);
    assert.equal(mounted.code, 0, mounted.stderr);
    const { images, events } = await openImages(
      t,
      cri,
      { garbage },
      { diskOf: () => Promise.resolve({ capacityBytes: 100 * GIB, availableBytes: 5 * GIB }) },
    );
    await eventually('the first pass is over', () => events.find((event) => event.includes('FreeDiskSpaceFailed')));
    events.length = 0;
    const filler = await registry.push(imageOf('filler', 1_200_000), 'app/filler:1');
    const wanted = await registry.push(imageOf('wanted', 1_000_000), 'app/wanted:1');
    assert.equal((await images.ensure({ ...requestFor(filler), signal: never })).kind, 'ready');
    const failed = await images.ensure({ ...requestFor(wanted), signal: never });
    assert.ok(failed.kind === 'waiting');
    assert.equal(failed.reason, 'ErrImagePull');
    assert.match(failed.message, /no space left on device/);
    await eventually('no one uses the other image: it is removed without waiting for the next pass', async () => {
      const left = await cri.images.list(never);
      return left.some(({ repoTags }) => repoTags.includes(filler)) ? undefined : true;
    });
    await eventually('then there is space', async () => {
      const answer = await images.ensure({ ...requestFor(wanted), signal: never });
      return answer.kind === 'ready' ? true : undefined;
    });
  });
}

test('all unused images can be removed at once', async (t) => {
  const { node, cri } = await labNode(t, 'containerd-2.4');
  await startPod(cri, node, SLEEPER);
  const { images } = await openImages(t, cri, { garbage: { ...garbage, minimumAgeMs: 0 } });
  const before = (await cri.images.list(never)).length;
  const freed = await images.removeUnused(Number.POSITIVE_INFINITY, never);
  const left = await cri.images.list(never);
  assert.ok(freed > 0 && left.length < before);
  assert.ok(left.every(({ repoTags, pinned }) => pinned || repoTags.includes(BUSYBOX)));
});
