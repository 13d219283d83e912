/** One pod is resized again and again: when the kernel has the new limits, and when the API server shows that the resize is over. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pod } from '../../src/api/pod.ts';
import { waitForObject } from '../../tests/lab/cluster/wait.ts';
import { clusterMeasure } from '../measure.ts';
import { median, ninetieth } from '../statistics.ts';
import { PODS, runApiPods } from '../world/api-pods.ts';
import type { BenchCluster } from '../world/cluster.ts';
import { podSpec } from '../world/static-pods.ts';

const RESIZES = 100;
const LOOK_AGAIN_MS = 2;
const RESIZED_WITHIN_MS = 180_000;

export const resize = clusterMeasure({
  name: 'resize',
  about: `one pod is resized ${RESIZES} times in a row: request to limits in force in its cgroup (v1), request to the end of the resize in its status`,
  needs: 'api',
  mostRounds: 1,
  figures: {
    inForce: { text: 'request to limits in force, median', unit: 'ms' },
    inForce90: { text: 'request to limits in force, 90th', unit: 'ms' },
    over: { text: 'request to end in the status, median', unit: 'ms' },
  },
  run: async (kubelet, world) => {
    await kubelet.start();
    await runApiPods(world, 1, podSpec({ resources: sized(100, 32) }));
    const { items = [] } = (await world.cluster.admin.get(PODS)) as { items?: readonly Pod[] };
    const [pod] = items;
    if (pod === undefined) throw new Error('the pod is not there');
    const inForce: number[] = [];
    const over: number[] = [];
    for (let at = 0; at < world.size.times(RESIZES); at += 1) {
      const times = await resizeOnce(world, pod, at % 2 === 0 ? 200 : 100);
      inForce.push(times.inForce);
      over.push(times.over);
    }
    return { inForce: median(inForce), inForce90: ninetieth(inForce), over: median(over) };
  },
});

const sized = (milliCpu: number, mebibytes: number) => {
  const amounts = { cpu: `${milliCpu}m`, memory: `${mebibytes}Mi` };
  return { requests: amounts, limits: amounts };
};

async function resizeOnce({ cluster: { admin }, node }: BenchCluster, pod: Pod, milliCpu: number) {
  const { name, uid } = pod.metadata;
  const id = pod.status?.containerStatuses?.[0]?.containerID?.split('//')[1] ?? '';
  const own = join('/sys/fs/cgroup/cpu', node.world.cgroup, 'kubepods', `pod${uid}`, id, 'cpu.cfs_quota_us');
  const [container] = pod.spec.containers;
  const resources = sized(milliCpu, milliCpu === 200 ? 64 : 32);
  const from = performance.now();
  const answer = await admin.request(`${PODS}/${name}/resize`, {
    method: 'PATCH',
    contentType: 'application/strategic-merge-patch+json',
    body: { spec: { containers: [{ name: container?.name, resources }] } },
  });
  if (answer.status !== 200) throw new Error(`resize of ${name}: ${answer.status} ${answer.text.trim()}`);
  const { generation } = (answer.json() as unknown as Pod).metadata;
  while ((await readFile(own, 'utf8')).trim() !== String(milliCpu * 100)) {
    if (performance.now() - from > RESIZED_WITHIN_MS) throw new Error(`${name} was not resized`);
    await delay(LOOK_AGAIN_MS);
  }
  const inForce = performance.now() - from;
  const wanted = { collection: PODS, name, what: 'resized', timeoutMs: RESIZED_WITHIN_MS };
  await waitForObject(admin, wanted, (object) => isOver(object as unknown as Pod, generation, milliCpu));
  return { inForce, over: performance.now() - from };
}

function isOver({ status }: Pod, generation: number | undefined, milliCpu: number): boolean {
  const isOpen = (status?.conditions ?? []).some(({ type }) => type.startsWith('PodResize'));
  const cpu = status?.containerStatuses?.[0]?.resources?.limits?.['cpu'];
  return status?.observedGeneration === generation && !isOpen && cpu === `${milliCpu}m`;
}
