/** Where our kubelet puts pods, and what they may use there: as the reference did with the same pods. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseCgroupMounts } from '../../src/host/cgroup-mounts.ts';
import { loadLife } from '../recorded/lives.ts';
import { type PodNode, podNode, stays, until } from './pod-support.ts';
import { RUNTIMES } from './runtimes.ts';

const hierarchies = parseCgroupMounts(await readFile('/proc/self/mountinfo', 'utf8'));
const MEBI = 2 ** 20;

/** The world's cgroups as seen from outside it. */
function directoryOf({ node }: PodNode, controller: string, path: string): string {
  const hierarchy = hierarchies.find(({ controllers }) => controllers.includes(controller)) ?? hierarchies.at(-1);
  return join(hierarchy?.mountPoint ?? '', node.world.cgroup, path);
}

const readValue = async (place: PodNode, path: string, file: string) => {
  const controller = file.slice(0, file.indexOf('.'));
  return (await readFile(join(directoryOf(place, controller, path), file), 'utf8')).trim();
};

for (const runtime of RUNTIMES) {
  test(`${runtime}: recorded pods get the recorded cgroup values, and leave nothing`, async (t) => {
    const place = await podNode(t, { runtime });
    for (const name of ['best-effort', 'burstable', 'guaranteed', 'pod-level-resources'] as const) {
      const { pod, cgroups } = loadLife(name);
      const recorded = Object.entries(cgroups).find(([path]) => path.endsWith(`pod${pod.metadata.uid}`));
      assert.ok(recorded);
      const containers = pod.spec.containers.map((one) => stays(one.name, { resources: one.resources }));
      const file = await place.write(name, { containers, resources: pod.spec.resources });
      const first = await place.running(name, pod.spec.containers[0]?.name ?? '');
      const uid = first.labels['io.kubernetes.pod.uid'] ?? '';
      const path = recorded[0].replace(pod.metadata.uid, uid);
      for (const [key, value] of Object.entries(recorded[1]))
        assert.equal(await readValue(place, path, key), value, key);
      assert.ok(existsSync(directoryOf(place, 'memory', `${path}/${first.id}`)), 'the container is not below its pod');
      await rm(file);
      await place.gone(name);
      await until('its cgroups are gone', () =>
        hierarchies.every(({ mountPoint }) => !existsSync(join(mountPoint, place.node.world.cgroup, path)))
          ? true
          : undefined,
      );
    }
  });
}

test('settings of the node: reserved amounts, processes of a pod, a place of its own', async (t) => {
  const place = await podNode(t, {
    config: {
      podPidsLimit: 50,
      systemReserved: { memory: '2Gi', cpu: '500m' },
      kubeReserved: { pid: '1000' },
    },
  });
  await place.write('one', { containers: [stays('a', { resources: { requests: { cpu: '300m' } } })] });
  const { labels } = await place.running('one', 'a');
  const pod = `/kubepods/burstable/pod${labels['io.kubernetes.pod.uid']}`;
  assert.equal(await readValue(place, pod, 'pids.max'), '50');
  assert.equal(await readValue(place, '/kubepods/burstable', 'cpu.shares'), '307');
  assert.equal(await readValue(place, '/kubepods/besteffort', 'cpu.shares'), '2');
  const total = Number(/^MemTotal:\s+(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8'))?.[1]) * 1024;
  assert.equal(await readValue(place, '/kubepods', 'memory.limit_in_bytes'), String(total - 2048 * MEBI));
  const cpus = (await readdir('/sys/devices/system/cpu')).filter((name) => /^cpu\d+$/.test(name)).length;
  assert.equal(await readValue(place, '/kubepods', 'cpu.shares'), String(cpus * 1024 - 512));
});

test('a fork bomb stays below the limit of its pod, and goes with it', async (t) => {
  const place = await podNode(t, { config: { podPidsLimit: 40 } });
  // Its first process forks no more: it would end at the limit, and the bomb with it.
  const bomb = ['sh', '-c', 'f() { f | f & }; (f) & exec sleep 100000'];
  const file = await place.write('bomb', {
    terminationGracePeriodSeconds: 1,
    containers: [stays('b', { command: bomb })],
  });
  await place.write('other', { containers: [stays('o')] });
  const { labels } = await place.running('bomb', 'b');
  const other = await place.running('other', 'o');
  const path = `/kubepods/besteffort/pod${labels['io.kubernetes.pod.uid']}`;
  await until('the limit is reached', async () =>
    (await readValue(place, path, 'pids.current')) === '40' ? true : undefined,
  );
  await rm(file);
  await place.gone('bomb');
  await until('its cgroup is gone', () => (existsSync(directoryOf(place, 'pids', path)) ? undefined : true));
  assert.equal((await place.running('other', 'o')).id, other.id);
});

test('the cgroup of a pod that went while no kubelet ran is taken away', async (t) => {
  const place = await podNode(t, {});
  const { node } = place;
  const file = await place.write('one', { containers: [stays('a')] });
  const { labels } = await place.running('one', 'a');
  const path = `/kubepods/besteffort/pod${labels['io.kubernetes.pod.uid']}`;
  await node.kubelet.kill();
  await rm(file);
  await rm(join(node.kubeletDirectory, 'pods'), { recursive: true });
  await node.kubelet.start();
  await place.gone('one');
  await until('its cgroup is gone', () => (existsSync(directoryOf(place, 'memory', path)) ? undefined : true));
});
