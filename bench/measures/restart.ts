/** kill -9 of a kubelet that manages pods. */
import { setTimeout as delay } from 'node:timers/promises';
import { nodeMeasure } from '../measure.ts';
import { median } from '../statistics.ts';
import { runningContainers } from '../world/running.ts';
import { runStaticPods } from '../world/static-pods.ts';

const PODS = 60;
const KILLS = 2;
/** After the start: long enough for the pods to settle, and for a kubelet that gets it wrong to restart a container. */
const SETTLE_MS = 4000;

export const restart = nodeMeasure({
  name: 'restart',
  about: `kill -9 and start of a kubelet with ${PODS} static pods`,
  needs: 'pods',
  mostRounds: 2,
  figures: {
    healthy: { text: 'start to healthy', unit: 'ms' },
    changed: { text: 'containers lost or new', unit: '' },
  },
  run: async (kubelet, world) => {
    const { size } = world;
    await kubelet.start();
    await runStaticPods(world, size.pods(PODS));
    await delay(size.period(SETTLE_MS));
    const before = await runningContainers(world);
    const times: number[] = [];
    for (let left = size.times(KILLS); left > 0; left -= 1) {
      await kubelet.kill();
      times.push(await kubelet.start());
      await delay(size.period(SETTLE_MS));
    }
    return { healthy: median(times), changed: before.symmetricDifference(await runningContainers(world)).size };
  },
});
