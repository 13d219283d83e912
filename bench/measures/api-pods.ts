/** Many pods of the API server at once: until they are Ready, what they cost while they idle, and until they are gone. */
import { setTimeout as delay } from 'node:timers/promises';
import { clusterMeasure } from '../measure.ts';
import { last, median } from '../statistics.ts';
import { runApiPods } from '../world/api-pods.ts';
import { runDirectPods } from '../world/direct-pods.ts';
import { IDLE_FIGURES, idleValues, watchUsage } from '../world/usage.ts';

const SETTLE_MS = 5000;
const PERIOD_MS = 15_000;

const manyApiPods = (count: number) =>
  clusterMeasure({
    name: `api-${count}`,
    about: `${count} pods through the API server: created at once, left alone, deleted at once`,
    needs: 'api',
    mostRounds: 1,
    figures: {
      median: { text: 'create to Ready, median', unit: 'ms' },
      last: { text: 'create to Ready, last', unit: 'ms' },
      ...IDLE_FIGURES,
      drain: { text: 'delete to all gone', unit: 'ms' },
    },
    run: async (kubelet, world) => {
      const { node, size } = world;
      await kubelet.start();
      const pods = await runApiPods(world, size.pods(count));
      await delay(size.period(SETTLE_MS));
      const usage = await watchUsage(node, size.period(PERIOD_MS));
      const drain = last(await pods.drain());
      return { median: median(pods.readyAfter), last: last(pods.readyAfter), ...idleValues(usage), drain };
    },
    floor: async (world) => {
      const pods = await runDirectPods(world, world.size.pods(count));
      return { median: median(pods.upAfter), last: last(pods.upAfter), drain: await pods.drain() };
    },
  });

export const api50 = manyApiPods(50);
export const api100 = manyApiPods(100);
