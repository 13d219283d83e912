import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { FilesystemUsage, Image } from '../wire/gen/cri-runtime-v1.ts';
import { createGarbage, type GarbageDeps } from './garbage.ts';
import type { GarbageSettings } from './rules/garbage.ts';

const never = new AbortController().signal;
const MINUTE = 60_000;
const settings: GarbageSettings = { highPercent: 80, lowPercent: 50, minimumAgeMs: 0, maximumAgeMs: 0, keep: [] };

function createBench(more: Partial<GarbageDeps> = {}, chosen: Partial<GarbageSettings> = {}) {
  const clock = createManualClock(1000);
  const events: string[] = [];
  let images = ['a', 'b', 'c'].map((id) => ({ ...Image.zero(), id, size: 20, repoTags: [`x.io/${id}:1`] }));
  let available = 100;
  const looks: number[] = [];
  const deps: GarbageDeps = {
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    runtime: {
      list: () => {
        looks.push(clock.now());
        return Promise.resolve(images);
      },
      remove: ({ image }) => {
        images = images.filter(({ id }) => id !== image);
        available += 20;
        return Promise.resolve();
      },
      fsInfo: () =>
        Promise.resolve({
          imageFilesystems: [{ ...FilesystemUsage.zero(), fsId: { mountpoint: '/images' } }],
          containerFilesystems: [],
        }),
    },
    imagesInUse: () => Promise.resolve(new Set(['x.io/c:1'])),
    diskOf: () => Promise.resolve({ capacityBytes: 100, availableBytes: available }),
    record: ({ reason, message }) => events.push(`${reason}: ${message}`),
    onImages: () => Promise.resolve(),
    ...more,
  };
  const garbage = createGarbage(deps, { ...settings, ...chosen });
  const ids = () => images.map(({ id }) => id);
  return { clock, events, garbage, ids, looks, setAvailable: (bytes: number) => (available = bytes) };
}

test('enough is removed, and no more', async () => {
  const { garbage, ids, setAvailable, events } = createBench();
  setAvailable(5);
  await assert.rejects(garbage.collect(never), /\(95% of 100 B used\).*\(freed 40 bytes\)/);
  assert.deepEqual(ids(), ['c'], 'a container uses that one, by its tag');
  assert.match(events[0] ?? '', /^FreeDiskSpaceFailed: /);
  setAvailable(60);
  await garbage.collect(never);
  const other = createBench({}, { lowPercent: 70 });
  other.setAvailable(15);
  await other.garbage.collect(never);
  assert.deepEqual(other.ids(), ['b', 'c']);
});

test('an image that can not be removed does not stop the others, and is reported', async () => {
  const removed: string[] = [];
  const failing = createBench({
    runtime: {
      list: () => Promise.resolve(['a', 'b'].map((id) => ({ ...Image.zero(), id, size: 20 }))),
      remove: ({ image = '' }) => {
        if (image === 'a') return Promise.reject(new Error('read-only'));
        removed.push(image);
        return Promise.resolve();
      },
      fsInfo: () =>
        Promise.resolve({
          imageFilesystems: [{ ...FilesystemUsage.zero(), fsId: { mountpoint: '/images' } }],
          containerFilesystems: [],
        }),
    },
    imagesInUse: () => Promise.resolve(new Set()),
  });
  failing.setAvailable(0);
  await assert.rejects(failing.garbage.collect(never), /wanted to free 50 bytes, but freed 20 bytes .*a: read-only/);
  assert.deepEqual(removed, ['b']);
});

test('a disk without a size', async () => {
  const { garbage, events } = createBench({ diskOf: () => Promise.resolve({ capacityBytes: 0, availableBytes: 0 }) });
  await assert.rejects(garbage.collect(never), /invalid capacity 0 on image filesystem/);
  assert.deepEqual(events, ['InvalidDiskCapacity: invalid capacity 0 on image filesystem']);
});

test('the fullest of several file systems counts', async () => {
  const disks: Readonly<Record<string, number>> = { '/one': 90, '/two': 10 };
  const removed: string[] = [];
  const imageFilesystems = Object.keys(disks).map((mountpoint) => ({
    ...FilesystemUsage.zero(),
    fsId: { mountpoint },
  }));
  const { garbage } = createBench({
    diskOf: (path) => Promise.resolve({ capacityBytes: 100, availableBytes: disks[path] ?? 0 }),
    runtime: {
      list: () => Promise.resolve([{ ...Image.zero(), id: 'a', size: 50 }]),
      remove: ({ image = '' }) => {
        removed.push(image);
        return Promise.resolve();
      },
      fsInfo: () => Promise.resolve({ imageFilesystems, containerFilesystems: [] }),
    },
  });
  await garbage.collect(never);
  assert.deepEqual(removed, ['a']);
});

test('too old by its age, once this kubelet has watched for that long', async () => {
  const { garbage, ids, clock } = createBench({}, { maximumAgeMs: 10 * MINUTE, highPercent: 100 });
  await garbage.collect(never);
  await clock.advance(10 * MINUTE);
  await garbage.collect(never);
  assert.equal(ids().length, 3);
  await clock.advance(MINUTE);
  garbage.noteUse('a');
  await garbage.collect(never);
  assert.deepEqual(ids(), ['a', 'c'], 'one was made ready for a container, one is in use');
});

test('passes every five minutes, sooner on demand, and an end', async () => {
  const { garbage, clock, looks } = createBench();
  const controller = new AbortController();
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  const run = garbage.run(controller.signal);
  await turn();
  await clock.advance(5 * MINUTE);
  await turn();
  assert.equal(looks.length, 2);
  garbage.hurry();
  await turn();
  assert.equal(looks.length, 3);
  controller.abort('over');
  await run;
  assert.equal(clock.sleepers(), 0);
});

test('only repeated failures become events; a runtime that is away is none', async () => {
  let failure: Error = new Error('broken');
  const { garbage, clock, events } = createBench({ imagesInUse: () => Promise.reject(failure) });
  const controller = new AbortController();
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  const run = garbage.run(controller.signal);
  await turn();
  assert.deepEqual(events, []);
  await clock.advance(5 * MINUTE);
  await turn();
  assert.deepEqual(events, ['ImageGCFailed: broken']);
  failure = new CodedError('unavailable', 'away');
  await clock.advance(5 * MINUTE);
  await turn();
  assert.equal(events.length, 1);
  controller.abort('over');
  await run;
});

test('an image on the list of images to keep stays, however short the disk is', async () => {
  const { garbage, ids } = createBench({}, { keep: ['x.io/a'] });
  assert.equal(await garbage.removeUnused(Number.POSITIVE_INFINITY, never), 20);
  assert.deepEqual(ids(), ['a', 'c'], 'one is on the list, one is in use');
});
