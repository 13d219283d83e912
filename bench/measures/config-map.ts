/** A config map that many pods show as files is changed: when the files have changed, and what that costs the API server. */
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterMeasure } from '../measure.ts';
import { median, percentile } from '../statistics.ts';
import { runApiPods } from '../world/api-pods.ts';
import type { BenchCluster } from '../world/cluster.ts';
import { podSpec } from '../world/static-pods.ts';

const PODS = 100;
const MAPS = '/api/v1/namespaces/default/configmaps';
const SETTLE_MS = 5000;
const LOOK_AGAIN_MS = 100;
/** The reference looks every 60 to 90 seconds. */
const CHANGED_WITHIN_MS = 180_000;

export const configMap = clusterMeasure({
  name: 'config-map',
  about: `a config map in the files of ${PODS} pods is changed: until the files show it, and requests for config maps in all`,
  needs: 'api',
  mostRounds: 1,
  figures: {
    median: { text: 'change to files, median', unit: 'ms' },
    most: { text: 'change to files, 99th', unit: 'ms' },
    reads: { text: 'requests for config maps, start to change', unit: '' },
  },
  run: async (kubelet, world) => {
    const { admin } = world.cluster;
    const name = world.podName();
    await admin.create(MAPS, { metadata: { name }, data: { color: 'blue', 'app.conf': 'a=1' } });
    await kubelet.start();
    const before = await readsOfMaps(world);
    const volumeMounts = [{ name: 'map', mountPath: '/map' }];
    const spec = {
      ...podSpec({ volumeMounts }),
      automountServiceAccountToken: false,
      volumes: [{ name: 'map', configMap: { name } }],
    };
    const count = world.size.pods(PODS);
    await runApiPods(world, count, spec);
    await delay(world.size.period(SETTLE_MS));
    const delays = await change(world, name, count);
    return { median: median(delays), most: percentile(delays, 0.99), reads: (await readsOfMaps(world)) - before };
  },
});

/** The wall clock, since file systems date the exchange of a link by it: to look seldom changes nothing about it. */
async function change({ cluster, node }: BenchCluster, name: string, count: number): Promise<readonly number[]> {
  const pods = join(node.kubeletDirectory, 'pods');
  const directories = (await readdir(pods)).map((uid) => join(pods, uid, 'volumes/kubernetes.io~configmap/map'));
  if (directories.length !== count) throw new Error(`${directories.length} directories of pods instead of ${count}`);
  const from = Date.now();
  const answer = await cluster.admin.request(`${MAPS}/${name}`, {
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    body: { data: { color: 'red' } },
  });
  if (answer.status !== 200) throw new Error(`PATCH ${name}: ${answer.status} ${answer.text.trim()}`);
  const times: number[] = [];
  for (const directory of directories) {
    await untilRed(join(directory, 'color'), from + CHANGED_WITHIN_MS);
    times.push((await lstat(join(directory, '..data'))).ctimeMs - from);
  }
  return times;
}

async function untilRed(file: string, deadline: number): Promise<void> {
  while ((await readFile(file, 'utf8')) !== 'red') {
    if (Date.now() > deadline) throw new Error(`${file} has not changed within ${CHANGED_WITHIN_MS} ms`);
    await delay(LOOK_AGAIN_MS);
  }
}

/** Requests that read config maps, of anybody: no one but the kubelet begins any while this is measured. Watches count from their beginning. */
async function readsOfMaps({ cluster }: BenchCluster): Promise<number> {
  const { text } = await cluster.admin.request('/metrics');
  const of = (name: string, verbs: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) && line.includes('resource="configmaps"'))
      .filter((line) => new RegExp(`verb="(${verbs})"`).test(line))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  return of('apiserver_request_total', 'GET|LIST|WATCH') + of('apiserver_longrunning_requests', 'WATCH');
}
