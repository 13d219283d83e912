/** kill -9 of a kubelet that manages pods of the API server. */
import { setTimeout as delay } from 'node:timers/promises';
import { clusterMeasure } from '../measure.ts';
import { runApiPods } from '../world/api-pods.ts';
import { runningContainers } from '../world/running.ts';

const PODS = 60;
const SETTLE_MS = 5000;

export const apiRestart = clusterMeasure({
  name: 'api-restart',
  about: `kill -9 and start of a kubelet with ${PODS} pods of the API server`,
  needs: 'api',
  mostRounds: 2,
  figures: {
    healthy: { text: 'start to healthy', unit: 'ms' },
    ready: { text: 'start to node Ready', unit: 'ms' },
    changed: { text: 'containers lost or new', unit: '' },
  },
  run: async (kubelet, world) => {
    const { size } = world;
    await kubelet.start();
    await runApiPods(world, size.pods(PODS));
    await delay(size.period(SETTLE_MS));
    const before = await runningContainers(world);
    await kubelet.kill();
    const from = performance.now();
    const healthy = await kubelet.start(); // waits for the node too
    const ready = performance.now() - from;
    await delay(size.period(SETTLE_MS));
    return { healthy, ready, changed: before.symmetricDifference(await runningContainers(world)).size };
  },
});
