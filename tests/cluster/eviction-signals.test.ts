/**
 * Each signal driven over its threshold by a real pod, and back: on one disk for everything, and with a disk of their own for images.
 * `testdata/eviction-signals-reference.json` holds what the reference kubelet did with the same pods.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeImage } from '../../tools/machine/oci/image.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { type EvictionWorld, evictionWorld, type KubeletKind, type Outcome } from './eviction-support.ts';

const RECORDED = join(import.meta.dirname, 'testdata/eviction-signals-reference.json');
const CRITICAL = { priorityClassName: 'system-node-critical' };
const DISK = { mi: 700, inodes: 20_000 };

const bytes = (path: string, mi: number) => `dd if=/dev/zero of=${path} bs=1M count=${mi}`;
const files = (path: string, count: number) =>
  `mkdir -p ${path}; i=0; while [ $i -lt ${count} ]; do : > ${path}/$i; i=$((i+1)); done`;
const processes = (count: number) => `i=0; while [ $i -lt ${count} ]; do sleep 100000 & i=$((i+1)); done`;

/** Here before the kubelet starts: what it sees for the first time is too young to be removed. */
const unusedImage = () =>
  makeImage({
    names: ['lab.local/unused:1'],
    layers: [[{ kind: 'file', path: 'x', content: Buffer.alloc(45 << 20, 'x') }]],
    config: {},
  });

type Play = (on: EvictionWorld) => Promise<Outcome>;

const ONE_DISK: Readonly<Record<string, Play>> = {
  'memory.available': ({ play, use }) => {
    const memory = { mounts: ['memory'] };
    return play({
      pressure: 'MemoryPressure',
      pods: {
        critical: use({ first: bytes('/memory/x', 200), ...memory }, CRITICAL),
        small: use({ first: bytes('/memory/x', 100), ...memory }),
        hog: use({ first: bytes('/memory/x', 300), later: bytes('/memory/y', 900), ...memory }),
      },
      victims: ['hog'],
    });
  },
  'pid.available': ({ play, use }) =>
    play({
      pressure: 'PIDPressure',
      pods: {
        critical: use({ first: processes(150) }, CRITICAL),
        small: use({ first: processes(100) }),
        hog: use({ first: processes(400), later: processes(1800) }),
      },
      victims: ['hog'],
    }),
  'nodefs.available': ({ play, use }) => {
    const data = { mounts: ['data'] };
    return play({
      pressure: 'DiskPressure',
      pods: {
        critical: use({ first: bytes('/data/x', 100), ...data }, CRITICAL),
        small: use({ first: bytes('/x', 60) }),
        hog: use({ first: bytes('/data/x', 80), later: bytes('/data/y', 180), ...data }),
      },
      victims: ['hog'],
    });
  },
  'nodefs.inodesFree': ({ play, use }) => {
    const data = { mounts: ['data'] };
    return play({
      pressure: 'DiskPressure',
      pods: {
        critical: use({ first: files('/data/x', 2000), ...data }, CRITICAL),
        small: use({ first: files('/x', 1000) }),
        hog: use({ first: files('/data/x', 1500), later: files('/data/y', 4000), ...data }),
      },
      victims: ['hog'],
    });
  },
};

const IMAGE_DISK: Readonly<Record<string, Play>> = {
  'an image that no one uses goes before any pod': ({ play, use }) =>
    play({
      pressure: 'DiskPressure',
      pods: { writer: use({ first: bytes('/x', 100), later: bytes('/y', 240) }) },
      victims: [],
    }),
  'imagefs.available': ({ play, use }) =>
    play({
      pressure: 'DiskPressure',
      pods: {
        critical: use({ first: bytes('/x', 100) }, CRITICAL),
        volume: use({ first: bytes('/data/x', 200), mounts: ['data'] }),
        hog: use({ first: bytes('/x', 80), later: bytes('/y', 300) }),
      },
      victims: ['hog'],
    }),
  'imagefs.inodesFree': ({ play, use }) =>
    play({
      pressure: 'DiskPressure',
      pods: {
        critical: use({ first: files('/x', 2000) }, CRITICAL),
        volume: use({ first: files('/data/x', 4000), mounts: ['data'] }),
        hog: use({ first: files('/x', 1500), later: files('/y', 4000) }),
      },
      victims: ['hog'],
    }),
  'nodefs.available beside a disk for images': ({ play, use }) =>
    play({
      pressure: 'DiskPressure',
      pods: {
        layer: use({ first: bytes('/x', 200) }),
        small: use({ first: bytes('/data/x', 60), mounts: ['data'] }),
        hog: use({ first: bytes('/data/x', 80), later: bytes('/data/y', 240), mounts: ['data'] }),
      },
      victims: ['hog'],
    }),
};

/** Writable layers count for the node's disk, where `containerfs` is watched by the thresholds of `nodefs`. */
const SPLIT_DISK: Readonly<Record<string, Play>> = {
  'an image that no one uses goes before any pod, apart from layers': ({ play, use }) =>
    play({
      pressure: 'DiskPressure',
      pods: { writer: use({ first: bytes('/x', 100), later: bytes('/y', 240) }) },
      victims: [],
    }),
  'containerfs.available': ({ play, use }) =>
    play({
      pressure: 'DiskPressure',
      pods: {
        critical: use({ first: bytes('/data/x', 60), mounts: ['data'] }, CRITICAL),
        small: use({ first: bytes('/data/x', 60), mounts: ['data'] }),
        hog: use({
          first: `${bytes('/x', 100)}; ${bytes('/data/x', 40)}`,
          later: bytes('/data/y', 180),
          mounts: ['data'],
        }),
      },
      victims: ['hog'],
    }),
};

/** `make pressure` plays all of them, `make test` one for each way in which a signal is read and ranked. */
const ALL = process.env['LONG'] === '1' || process.env['RECORD'] === '1';
const IN_SHORT = [
  'memory.available',
  'nodefs.available',
  'an image that no one uses goes before any pod',
  'imagefs.available',
];

interface Recorded {
  readonly outcomes: Readonly<Record<string, Outcome>>;
  readonly nodeEvents: readonly string[];
}

async function live(on: EvictionWorld, plays: Readonly<Record<string, Play>>): Promise<Recorded> {
  const outcomes: Record<string, Outcome> = {};
  const names = Object.keys(plays).filter((name) => ALL || IN_SHORT.includes(name));
  for (const name of names) {
    const outcome = await plays[name]?.(on);
    if (outcome !== undefined) outcomes[name] = outcome;
  }
  // As it is in the file: without what is undefined.
  return JSON.parse(JSON.stringify({ outcomes, nodeEvents: await on.nodeEvents() })) as Recorded;
}

const worlds = (t: TestContext, kubelet: KubeletKind) =>
  ({
    'one disk': async () =>
      live(await evictionWorld(t, kubelet, { disks: { node: DISK }, countsProcesses: ALL }), ONE_DISK),
    'a disk for images': async () =>
      live(
        await evictionWorld(t, kubelet, { disks: { node: DISK, images: DISK }, images: [unusedImage()] }),
        IMAGE_DISK,
      ),
    'layers apart from images': async () =>
      live(
        await evictionWorld(t, kubelet, {
          disks: { node: DISK, images: DISK },
          images: [unusedImage()],
          isSplit: true,
        }),
        SPLIT_DISK,
      ),
  }) as const;

const recorded = (): Record<string, Recorded> => JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, Recorded>;

const NAMES = ['one disk', 'a disk for images', ...(ALL ? (['layers apart from images'] as const) : [])] as const;

for (const name of NAMES) {
  test(`pressure on a real node: ${name}`, { skip: whyClusterIsSkipped(process.env) }, async (t) => {
    if (process.env['RECORD'] === '1') {
      const found = { ...recorded(), [name]: await worlds(t, 'reference')[name]() };
      writeFileSync(RECORDED, `${JSON.stringify(found, undefined, 2)}\n`);
      return;
    }
    const expected = recorded()[name];
    const found = await worlds(t, 'ours')[name]();
    for (const [signal, outcome] of Object.entries(found.outcomes)) {
      if (expected?.outcomes[signal] === undefined) {
        await t.test(signal, () => assert.deepEqual(outcome, { endings: {}, lost: [], taints: [] }));
        continue;
      }
      await t.test(`${signal} ends as under the reference, and costs no other pod`, () => {
        // Processes of the whole machine count: others of them may cost a second pod, as they did under the reference.
        const { lost } = signal === 'pid.available' ? outcome : { lost: [] };
        assert.deepEqual(outcome, { ...expected.outcomes[signal], lost });
      });
    }
    await t.test('the node reports what it is short of', () => {
      if (ALL) assert.deepEqual(found.nodeEvents, expected?.nodeEvents);
      for (const event of found.nodeEvents) assert.ok(expected?.nodeEvents.includes(event), event);
      assert.ok(found.nodeEvents.length > 0);
    });
  });
}
