/** What a node short of disk frees before any pod ends: the logs that grew too fast, then the images that no one needs, and no more of them than that. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createSystemClock } from '../../src/base/clock.ts';
import { createCriClient } from '../../src/runtime/cri/client.ts';
import { busyboxImage } from '../../tools/machine/images.ts';
import { makeImage } from '../../tools/machine/oci/image.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { never, runs } from '../node/pod-support.ts';
import { type EvictionWorld, endingOf, evictionWorld, untilNoPressure } from './eviction-support.ts';
import { eventually, NODE, type PodCluster, phaseIs, restarts } from './pods-support.ts';

const MI = 1 << 20;
const LOG_MI = 10;

interface Decision {
  readonly signal: string;
  readonly evicted?: string;
  readonly reclaimed: readonly { readonly step: string }[];
}

const decisionsOf = async ({ cluster }: PodCluster): Promise<readonly Decision[]> => {
  const page = await cluster.kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/evictions`);
  return (JSON.parse(page) as { readonly decisions: readonly Decision[] }).decisions;
};

/** With content of its own: images that share it would not be freed. */
async function image(name: string) {
  const base = await busyboxImage();
  const content = Buffer.alloc(40 * MI, name);
  return makeImage({ ...base, names: [name], layers: [...base.layers, [{ kind: 'file', path: 'x', content }]] });
}

const IMAGES = ['lab.local/old:1', 'lab.local/old:2', 'lab.local/kept:1', 'lab.local/needed:1'] as const;

async function open(t: TestContext) {
  const place = await evictionWorld(t, 'ours', {
    disks: { node: { mi: 1100, inodes: 20_000 } },
    images: await Promise.all(IMAGES.map(image)),
    flags: ['--image-gc-keep=lab.local/kept'],
    // Only a shortage has logs rotated here.
    config: { containerLogMonitorInterval: '1h', containerLogMaxSize: `${LOG_MI}Mi` },
  });
  const { node } = place.world.cluster;
  const cri = createCriClient({ endpoint: node.containerd.endpoint, clock: createSystemClock() });
  t.after(() => cri.close());
  const images = async () => {
    const names = new Set((await cri.images.list(never)).flatMap(({ repoTags }) => repoTags));
    return IMAGES.filter((name) => names.has(name));
  };
  return { ...place, images };
}

type Place = EvictionWorld & { readonly images: () => Promise<readonly string[]> };

async function shrinksLogs({ world, images }: Place): Promise<void> {
  const flood = `head -c ${380 * MI} /dev/zero | tr '\\0' x | fold -w 1000; echo written; exec sleep 100000`;
  await world.create('noisy', { nodeName: NODE, containers: [runs('main', flood)] });
  await eventually('a decision', async () => (await decisionsOf(world)).length > 0, 180_000);
  for (const { signal, evicted, reclaimed } of await decisionsOf(world)) {
    assert.deepEqual(
      { signal, evicted, steps: reclaimed.map(({ step }) => step) },
      { signal: 'nodefs.available', evicted: undefined, steps: ['large logs'] },
    );
  }
  const { node } = world.cluster;
  await eventually(
    'the end of the log, and what is in front of it is gone',
    async () => {
      const { stdout } = await node.exec(['sh', '-c', 'tail -qn 1 /var/log/pods/default_noisy_*/main/0.log; true']);
      return stdout.includes('written');
    },
    180_000,
  );
  const { stdout } = await node.exec(['sh', '-c', 'du -sm /var/log/pods/default_noisy_* | cut -f 1']);
  assert.ok(Number(stdout) < 380, `${stdout} Mi of logs are left`);
  const pod = await world.get('noisy');
  assert.deepEqual([phaseIs('Running')(pod), restarts(pod)], [true, 0]);
  assert.deepEqual(await images(), IMAGES, 'no image had to go');
  await world.delete('noisy', { gracePeriodSeconds: 0 });
  await world.gone('noisy');
  await untilNoPressure(world);
}

async function removesOldImagesOnly({ world, use, images }: Place): Promise<void> {
  const seen = (await decisionsOf(world)).length;
  const fresh = async () => (await decisionsOf(world)).slice(seen);
  // Its container has not started: nothing uses the image that it needs.
  await world.create('waiting', {
    nodeName: NODE,
    initContainers: [runs('first', 'exec sleep 100000')],
    containers: [{ ...runs('main', 'exec sleep 100000'), image: 'lab.local/needed:1' }],
  });
  const write = (name: string, mi: number) => `dd if=/dev/zero of=/data/${name} bs=1M count=${mi}`;
  const gate = 'until [ -e /data/go ]; do sleep 0.5; done';
  const writer = use({ first: `${write('a', 330)}; ${gate}; ${write('b', 330)}`, mounts: ['data'] });
  const { metadata } = await world.create('writer', writer);
  await eventually('one image is gone', async () => (await images()).length < IMAGES.length, 180_000);
  await eventually('a decision', async () => (await fresh()).length > 0);
  const [first] = await fresh();
  assert.deepEqual(
    [first?.evicted, first?.reclaimed.map(({ step }) => step)],
    [undefined, ['large logs', 'dead containers', 'unused images']],
  );
  const left = await images();
  assert.equal(left.length, IMAGES.length - 1, `one was enough: ${left}`);
  assert.ok(left.includes('lab.local/kept:1') && left.includes('lab.local/needed:1'), left.join());
  const data = `/var/lib/kubelet/pods/${metadata.uid}/volumes/kubernetes.io~empty-dir/data`;
  await world.cluster.node.exec(['touch', `${data}/go`]);
  assert.equal((await endingOf(world, 'writer')).reason, 'Evicted');
  assert.deepEqual(await images(), ['lab.local/kept:1', 'lab.local/needed:1']);
  assert.equal((await world.get('waiting')).status?.phase, 'Pending', 'it still waits for its init container');
}

test('a node short of disk frees what no pod needs', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const place = await open(t);
  await t.test('of a log that grew too fast the end is kept, and nothing else goes', () => shrinksLogs(place));
  await t.test('the longest unused image goes, and never one that is kept or that a pod waits for', () =>
    removesOldImagesOnly(place),
  );
});
