/**
 * Pods that are evicted on a real node: above a limit of their own, and because the pods of the node together use too much memory.
 * `testdata/eviction-reference.json` holds what the reference kubelet did with the same pods.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pod } from '../../src/api/pod.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { runs } from '../node/pod-support.ts';
import { eventually, NODE, type PodCluster, phaseIs, podCluster, stays } from './pods-support.ts';

const RECORDED = join(import.meta.dirname, 'testdata/eviction-reference.json');
const MI = 1 << 20;
/** What pods may use together. */
const ALLOCATABLE_MI = 400;

interface Ending {
  readonly phase: string | undefined;
  readonly reason: string | undefined;
  readonly message: string;
  readonly disruption: readonly (string | undefined)[];
  readonly events: readonly string[];
}

interface ListedEvent {
  readonly type: string;
  readonly message: string;
  readonly metadata: { readonly annotations?: object };
}

/** Without the numbers that differ from run to run. */
const words = (text = ''): string => text.replace(/(available: |using )[\d.]+[KMG]i/g, '$1N');

async function endingOf(world: PodCluster, name: string): Promise<Ending> {
  const pod = await world.become(name, 'evicted', phaseIs('Failed'));
  const condition = pod.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  let events: readonly ListedEvent[] = [];
  // It may arrive after the status.
  await eventually(`the event of ${name}`, async () => {
    const selector = `involvedObject.name=${name},reason=Evicted`;
    const listed = await world.cluster.kubectl('get', 'events', '-o', 'json', '--field-selector', selector);
    events = (JSON.parse(listed) as { items: readonly ListedEvent[] }).items;
    return events.length > 0;
  });
  return {
    phase: pod.status?.phase,
    reason: pod.status?.reason,
    message: words(pod.status?.message),
    disruption: condition === undefined ? [] : [condition.status, condition.reason, words(condition.message)],
    events: events.map(
      ({ type, message, metadata }) => `${type}: ${words(message)} ${Object.keys(metadata.annotations ?? {}).sort()}`,
    ),
  };
}

const conditionOf = async (world: PodCluster, type: string): Promise<string | undefined> => {
  const node = JSON.parse(await world.cluster.kubectl('get', 'node', NODE, '-o', 'json')) as {
    status: { conditions: { type: string; status: string }[] };
  };
  return node.status.conditions.find((condition) => condition.type === type)?.status;
};

/** By the working set. */
async function availableMi(world: PodCluster): Promise<number> {
  const { node } = JSON.parse(
    await world.cluster.kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/stats/summary?only_cpu_and_memory=true`),
  ) as { node: { systemContainers: { name: string; memory: { availableBytes: number } }[] } };
  return (node.systemContainers.find(({ name }) => name === 'pods')?.memory.availableBytes ?? 0) / MI;
}

async function live(t: TestContext, kubelet: 'ours' | 'reference') {
  const total = Number(/MemTotal:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024;
  const world = await podCluster(t, {
    kubelet,
    // For a file that is twice as large as what pods may use of memory.
    disks: { node: { mi: 1200, inodes: 20_000 } },
    config: {
      kubeReserved: { memory: `${total - ALLOCATABLE_MI * MI}` },
      evictionHard: { 'memory.available': '100Mi' },
      evictionPressureTransitionPeriod: '20s',
      volumeStatsAggPeriod: '5s',
    },
  });
  const write = (path: string, mi: number) => `dd if=/dev/zero of=${path} bs=1M count=${mi}; sleep 1000`;
  await world.create('empty-dir', {
    containers: [runs('main', write('/data/x', 30), { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
    volumes: [{ name: 'data', emptyDir: { sizeLimit: '10Mi' } }],
  });
  await world.create('layer', {
    containers: [runs('main', write('/x', 30), { resources: { limits: { 'ephemeral-storage': '10Mi' } } })],
  });
  await world.create('modest', { containers: [stays('main', { resources: { requests: { memory: '50Mi' } } })] });
  await world.ready('modest');
  const endings: Record<string, Ending> = {};
  for (const name of ['empty-dir', 'layer']) endings[name] = await endingOf(world, name);
  // A file in memory counts as anonymous memory, and can be made of any size without a program of its own.
  await world.create('hog', {
    containers: [
      runs('main', `${write('/memory/x', 350)}`, { volumeMounts: [{ name: 'memory', mountPath: '/memory' }] }),
    ],
    volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
  });
  // Seen while it is there: a busy machine may take longer over the end of the pod than the pressure lasts.
  const pressure = eventually('pressure', async () => (await conditionOf(world, 'MemoryPressure')) === 'True').then(
    () => true,
    () => false,
  );
  endings['hog'] = await endingOf(world, 'hog');
  return { world, endings, hadPressure: await pressure };
}

const recorded = (): Record<string, Ending> => JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, Ending>;

test('eviction on a real node', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  if (process.env['RECORD'] === '1') {
    const { endings } = await live(t, 'reference');
    writeFileSync(RECORDED, `${JSON.stringify(endings, undefined, 2)}\n`);
    return;
  }
  const { world, endings, hadPressure } = await live(t, 'ours');
  for (const [name, expected] of Object.entries(recorded())) {
    await t.test(`${name} ends as under the reference`, () => assert.deepEqual(endings[name], expected));
  }
  await t.test('a pod within its request stays', async () => {
    assert.equal((await world.get('modest')).status?.phase, 'Running');
  });
  await t.test('the node shows the pressure, and that it is over', async () => {
    assert.ok(hadPressure);
    await eventually('no pressure', async () => (await conditionOf(world, 'MemoryPressure')) === 'False');
  });
  await t.test('metrics count each eviction by its signal', async () => {
    const text = await world.cluster.kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/metrics`);
    for (const name of ['allocatableMemory.available', 'emptydirfs.limit', 'ephemeralpodfs.limit']) {
      assert.ok(text.includes(`kubelet_evictions{eviction_signal="${name}"} 1\n`), name);
    }
  });
  await t.test('an evicted pod does not start again after a restart of the kubelet', async () => {
    const before = await world.get('hog');
    await world.cluster.node.kubelet.kill();
    await world.cluster.node.kubelet.start();
    await world.create('proof', {});
    await world.ready('proof');
    const after: Pod = await world.get('hog');
    assert.deepEqual([after.status?.phase, after.status?.reason], ['Failed', 'Evicted']);
    assert.equal(
      after.status?.containerStatuses?.[0]?.restartCount,
      before.status?.containerStatuses?.[0]?.restartCount,
    );
  });
  await t.test('metrics begin anew with the process', async () => {
    const text = await world.cluster.kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/metrics`);
    assert.doesNotMatch(text, /^kubelet_evictions\{/m, 'a new process has evicted none');
  });
  await t.test(
    'files that a pod reads again and again cost no pod where page cache does not count, memory does',
    async () => {
      const { kubelet } = world.cluster.node;
      await kubelet.kill();
      await kubelet.start({
        flags: [...(world.cluster.kubeletSettings.flags ?? []), '--eviction-memory-signal=available'],
      });
      const stream = `dd if=/dev/zero of=/data/large bs=1M count=${2 * ALLOCATABLE_MI}; dd if=/dev/zero of=/data/hot bs=1M count=340`;
      const read = 'cat /data/large > /dev/null; while true; do cat /data/hot > /dev/null; sleep 0.2; done';
      await world.create('reader', {
        containers: [runs('main', `${stream}; ${read}`, { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
        volumes: [{ name: 'data', emptyDir: {} }],
      });
      await eventually('the working set alone would cost a pod', async () => (await availableMi(world)) < 90);
      await delay(12_000); // two looks at the node, and more
      assert.equal((await world.get('reader')).status?.phase, 'Running');
      await world.create('hog-again', {
        containers: [
          runs('main', 'dd if=/dev/zero of=/memory/x bs=1M count=320; sleep 1000', {
            volumeMounts: [{ name: 'memory', mountPath: '/memory' }],
          }),
        ],
        volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }],
      });
      assert.deepEqual(await endingOf(world, 'hog-again'), recorded()['hog']);
      assert.equal((await world.get('reader')).status?.phase, 'Running');
    },
  );
});
