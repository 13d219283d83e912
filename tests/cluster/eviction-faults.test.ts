/** Eviction under faults: a kubelet that is killed in the middle of it, and a disk on which nothing can be written any more. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { endingOf, evictionWorld } from './eviction-support.ts';
import { containerIds, eventually, NODE, phaseIs, restarts } from './pods-support.ts';

const CRITICAL = { nodeName: NODE, priorityClassName: 'system-node-critical' };
const FILLER = '/var/lib/kubelet/filler';

interface Page {
  readonly decisions: readonly {
    readonly signal: string;
    readonly evicted?: string;
    readonly threshold?: string;
    readonly ranking: readonly { readonly pod: string; readonly critical: boolean }[];
  }[];
}

test('eviction under faults', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const { world, use } = await evictionWorld(t, 'ours', {
    disks: { node: { mi: 700, inodes: 20_000 } },
    config: { kernelMemcgNotification: true },
  });
  const { cluster } = world;
  const { kubelet } = cluster.node;
  const log = () => readFile(kubelet.logFile, 'utf8');
  const memory = (mi: number) => `dd if=/dev/zero of=/memory/x bs=1M count=${mi}`;
  const hog = { first: 'echo up', later: memory(1200), mounts: ['memory'] };
  const untilNoPressure = () =>
    eventually('no pressure', async () => {
      const { conditions } = (await cluster.admin.get(`/api/v1/nodes/${NODE}`)).status as {
        readonly conditions: readonly { readonly type: string; readonly status: string }[];
      };
      return conditions.every(({ type, status }) => !type.endsWith('Pressure') || status === 'False');
    });
  await world.create('steady', CRITICAL);
  const steady = containerIds(await world.ready('steady'));

  await t.test(
    'the kernel reports that memory is short, and the decision can be read by who may read pods',
    async () => {
      await world.create('hog', use(hog));
      await endingOf(world, 'hog');
      const lines = (await log()).split('\n');
      const reported = lines.findIndex((line) => line.includes('memory eviction threshold crossed'));
      const decided = lines.findIndex((line) => line.includes('Eviction manager: decision'));
      assert.ok(reported >= 0 && reported < decided, `reported in line ${reported}, decided in line ${decided}`);
      const { decisions } = JSON.parse(
        await cluster.kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/evictions`),
      ) as Page;
      const [decision, ...others] = decisions;
      assert.deepEqual([decision?.signal, decision?.evicted, others], ['memory.available', 'default/hog', []]);
      assert.deepEqual(
        decision?.ranking.map(({ pod, critical }) => [pod, critical]),
        [
          ['default/hog', false],
          ['default/steady', true],
        ],
      );
      assert.equal(lines.filter((line) => line.includes('Eviction manager: decision')).length, 1, 'logged once');
    },
  );

  await t.test(
    'a kubelet that is killed while it evicts a pod ends it after its return, and never starts it again',
    async () => {
      await untilNoPressure();
      const recording = world.record();
      await world.create('killed', use({ ...hog, first: 'trap "" TERM; echo up' }));
      await eventually('the eviction has begun', async () => /"Evicting pod" pod="default\/killed"/.test(await log()));
      await kubelet.kill();
      await kubelet.start();
      // Its event may have gone with the kubelet: events leave the node a moment later.
      const { status } = await world.become('killed', 'evicted', phaseIs('Failed'), 180_000);
      assert.equal(status?.reason, 'Evicted');
      await world.create('proof', { nodeName: NODE, priorityClassName: 'system-node-critical' });
      await world.ready('proof');
      recording.stop();
      const versions = recording.of('killed');
      assert.equal(restarts(await world.get('killed')), 0);
      const phases = versions.map(({ status }) => status?.phase);
      assert.equal(
        phases.slice(phases.indexOf('Failed')).every((phase) => phase === 'Failed'),
        true,
        phases.join(),
      );
    },
  );

  await t.test('a disk on which nothing can be written costs nothing that was there, and is no end', async () => {
    await cluster.node.exec(['sh', '-c', `cat /dev/zero > ${FILLER}; df /var/lib/kubelet; true`]);
    await world.create('during', CRITICAL);
    await kubelet.kill();
    await kubelet.start();
    assert.deepEqual(containerIds(await world.get('steady')), steady);
    assert.ok(!phaseIs('Running')(await world.get('during')), 'there is no place for its files');
    await cluster.node.exec(['rm', FILLER]);
    await world.ready('during');
    assert.deepEqual(containerIds(await world.ready('steady')), steady, 'it was never touched');
    assert.equal(restarts(await world.get('steady')), 0);
    await kubelet.kill();
    await kubelet.start();
    await untilNoPressure();
    await world.create('after', { nodeName: NODE });
    await world.ready('after');
    assert.deepEqual(containerIds(await world.ready('steady')), steady);
  });
});
