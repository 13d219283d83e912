/** What decisions about pressure are made on: which disk is which, and what counts as used memory. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManualClock } from '../base/manual-clock.ts';
import type { MountEntry } from '../host/mount-table.ts';
import { measureLayers } from './measured-layers.ts';
import { createNodeDisks } from './node-storage.ts';
import { NO_READING } from './rules/reading.ts';
import type { MemorySample } from './rules/sample.ts';
import type { StatsPod } from './rules/targets.ts';
import { computeSignals, type MemoryRule } from './rules/usage.ts';
import { measureLayer } from './sources.ts';
import type { ImagePlaces, StoragePorts } from './storage.ts';

const never = new AbortController().signal;

describe('disks', () => {
  const device = (path: string) => ({ '/node': 1, '/images': 2, '/layers': 3, '/node/layers': 1 })[path] ?? 9;
  const disks = (found: ImagePlaces) => {
    let calls = 0;
    const ports = {
      now: () => 5,
      complain: () => undefined,
      tasks: () => ({ limit: 100, current: 10 }),
      imagePlaces: () => {
        calls += 1;
        return Promise.resolve(found);
      },
      fileSystem: (path: string) =>
        Promise.resolve({
          device: device(path),
          capacityBytes: device(path) * 100,
          freeBytes: 60,
          availableBytes: device(path) * 10,
          inodes: 50,
          inodesFree: 4,
        }),
    } as unknown as StoragePorts;
    return { disks: createNodeDisks(ports, '/node'), calls: () => calls };
  };
  const cases: readonly [string, ImagePlaces, object, available: number][] = [
    ['one disk', { images: '/node', layers: '/node' }, { isSeparate: false, isSplit: false }, 10],
    ['a disk for both', { images: '/images', layers: '/images' }, { isSeparate: true, isSplit: false }, 20],
    [
      'a runtime that names images only',
      { images: '/images', layers: undefined },
      { isSeparate: true, isSplit: false },
      20,
    ],
    [
      'layers on the disk of the node',
      { images: '/images', layers: '/node/layers' },
      { isSeparate: true, isSplit: true },
      10,
    ],
    ['three disks', { images: '/images', layers: '/layers' }, { isSeparate: true, isSplit: true }, 30],
  ];
  for (const [what, places, expected, available] of cases) {
    test(what, async () => {
      const { disks: made, calls } = disks(places);
      await made.read(never);
      const { layers } = await made.read(never);
      assert.deepEqual(made.imageDisk(), expected);
      assert.equal(layers?.availableBytes, available);
      assert.equal(calls(), 1, 'the runtime is asked once');
    });
  }
  test('a runtime that does not answer yet is asked again', async () => {
    const { disks: made, calls } = disks({ images: undefined, layers: undefined });
    await made.read(never);
    await made.read(never);
    assert.equal(calls(), 2);
  });
});

describe('writable layers', () => {
  const entry = (point: string, superOptions: string, type = 'overlay') =>
    ({ point, superOptions, type }) as unknown as MountEntry;
  const table = () => [
    entry('/run/task/other/rootfs', 'rw,lowerdir=/l,upperdir=/snapshots/1/fs,workdir=/w'),
    entry('/run/task/abc/rootfs', 'rw,lowerdir=/l,upperdir=/snapshots/2/fs,workdir=/w'),
    entry('/run/task/plain/rootfs', 'rw', 'ext4'),
  ];
  const measureTree = (path: string) => Promise.resolve({ usedBytes: path.length, inodesUsed: 3 });
  test('are measured where the root of the container is an overlay', async () => {
    assert.deepEqual(await measureLayer('abc', { table, measureTree }, never), { bytes: 15, inodes: 3 });
    assert.equal(await measureLayer('plain', { table, measureTree }, never), undefined);
    assert.equal(await measureLayer('ab', { table, measureTree }, never), undefined);
  });
  test('that can not be measured, or not in time, keep the numbers of the runtime', async () => {
    const clock = createManualClock(0);
    const complaints: string[] = [];
    const ports = {
      complain: (what: string) => void complaints.push(what),
      measureLayer: (id: string) => {
        if (id === 'broken') return Promise.reject(new Error('gone'));
        return id === 'slow' ? new Promise<never>(() => undefined) : Promise.resolve({ bytes: 1, inodes: 1 });
      },
    };
    const pods = [{ containers: ['fast', 'broken', 'slow', 'never'].map((id) => ({ id })) }] as unknown as StatsPod[];
    const measured = measureLayers({ clock, ports }, pods, never);
    for (let step = 0; step < 5; step += 1) await clock.advance(1000);
    assert.deepEqual([...(await measured).keys()], ['fast']);
    assert.deepEqual(complaints, ['writable layer of broken']);
    assert.equal(clock.sleepers(), 0);
  });
});

describe('memory', () => {
  const sample = { usage: 900, workingSet: 700, activeFile: 300, inactiveFile: 200 } as MemorySample;
  const reading = {
    ...NO_READING,
    time: 7,
    memory: sample,
    spec: { cpu: undefined, memory: { limit: 1000 } },
  } as unknown as typeof NO_READING;
  const storage = {
    node: { time: 1 },
    image: undefined,
    layers: undefined,
    rlimit: { time: 1 },
  } as unknown as Parameters<typeof computeSignals>[3];
  const signals = (rule: MemoryRule) =>
    computeSignals(
      new Map([
        ['/', reading],
        ['/kubepods', reading],
      ]),
      { pods: '/kubepods', classes: [], system: {} },
      rule,
      storage,
    );
  test('the working set counts as used, as in the reference', () => {
    const found = signals({ withoutCache: false, machineAvailable: 650 });
    const expected = { available: 300, capacity: 1000, time: 7, usedBytes: 900 };
    assert.deepEqual(found.get('memory.available'), expected);
    assert.deepEqual(found.get('allocatableMemory.available'), expected);
  });
  test('on request no page cache does: the estimate of the kernel for the machine, no file of pods', () => {
    const found = signals({ withoutCache: true, machineAvailable: 650 });
    assert.equal(found.get('memory.available')?.available, 650);
    assert.equal(found.get('allocatableMemory.available')?.available, 600);
    assert.equal(signals({ withoutCache: true, machineAvailable: undefined }).get('memory.available')?.available, 600);
  });
});
