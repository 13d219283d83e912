import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTree, destroyTree, listTrees, readHierarchies } from './cgroup-trees.ts';
import { claimWorld, createPlace, findLeftovers, readWorlds, sweep } from './ledger.ts';

test('worlds of living owners are kept, those of the dead and ownerless cgroups are swept away', async () => {
  const root = await mkdtemp(join(tmpdir(), 'kubelet-ts-ledger-'));
  const place = createPlace(root, `kubelet-ts-ledger-${process.pid}-`);
  const neighbour = createPlace(join(root, 'next'), `${place.cgroupPrefix}next-`);
  const hierarchies = await readHierarchies();
  try {
    assert.deepEqual(await findLeftovers(createPlace(join(root, 'none'), place.cgroupPrefix)), []);
    await claimWorld(place, 'mine');
    await assert.rejects(claimWorld(place, 'mine'), /the world mine is there already/);
    await mkdir(join(root, 'dead', 'logs'), { recursive: true });
    await writeFile(join(root, 'dead', 'ledger.json'), JSON.stringify({ pid: 1, startTime: 'never', bootId: 'none' }));
    await mkdir(join(root, 'garbled'));
    await writeFile(join(root, 'garbled', 'ledger.json'), '{"pid":');
    await mkdir(join(root, 'going'));
    for (const name of ['.new-now', '.new-old']) {
      await mkdir(join(root, name));
      await writeFile(join(root, name, 'ledger.json'), '{"pid":');
    }
    await utimes(join(root, '.new-old'), new Date(0), new Date(0));
    for (const id of ['mine', 'dead', 'lost']) await createTree(hierarchies, join(place.cgroupOf(id), 'part'));
    await createTree(hierarchies, neighbour.cgroupOf('theirs'));

    const expected = new Set([
      ...['.new-old', 'dead', 'garbled'].map((id) => `world ${id}`),
      ...['dead', 'lost'].map((id) => `cgroup ${place.cgroupOf(id)}`),
    ]);
    assert.deepEqual(new Set((await sweep(place)).map(({ what, name }) => `${what} ${name}`)), expected);
    assert.deepEqual(await findLeftovers(place), []);
    assert.deepEqual(
      (await readdir(root)).sort(),
      ['.new-now', 'going', 'mine'],
      'an empty directory belongs to another process at work',
    );
    assert.deepEqual(await listTrees(hierarchies, place.cgroupPrefix), [
      place.cgroupOf('mine'),
      neighbour.cgroupOf('theirs'),
    ]);
    assert.equal((await readWorlds(place)).find(({ id }) => id === 'mine')?.owner?.pid, process.pid);
  } finally {
    await rm(root, { recursive: true, force: true });
    await sweep(place);
    await sweep(neighbour);
  }
  assert.deepEqual(await listTrees(hierarchies, place.cgroupPrefix), []);
});

test('a world that is just being made is no leftover', async () => {
  const root = await mkdtemp(join(tmpdir(), 'kubelet-ts-ledger-'));
  const place = createPlace(root, `kubelet-ts-ledger-made-${process.pid}-`);
  const hierarchies = await readHierarchies();
  let isMaking = true;
  const found: unknown[] = [];
  const look = async () => {
    while (isMaking) found.push(...(await findLeftovers(place)));
  };
  const looking = look();
  try {
    for (let id = 0; id < 100; id += 1) {
      await claimWorld(place, `w${id}`);
      await createTree(hierarchies, place.cgroupOf(`w${id}`));
    }
  } finally {
    isMaking = false;
    await looking;
    for (const tree of await listTrees(hierarchies, place.cgroupPrefix)) await destroyTree(hierarchies, tree);
    await rm(root, { recursive: true, force: true });
  }
  assert.deepEqual(found, []);
});
