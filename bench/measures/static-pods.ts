/** Many static pods at once: until they are up, what they cost while they idle, and until they are gone. */
import { setTimeout as delay } from 'node:timers/promises';
import { nodeMeasure } from '../measure.ts';
import { last, median } from '../statistics.ts';
import { runDirectPods } from '../world/direct-pods.ts';
import { runStaticPods } from '../world/static-pods.ts';
import { IDLE_FIGURES, idleValues, watchUsage } from '../world/usage.ts';

const SETTLE_MS = 5000;
const PERIOD_MS = 15_000;
/** What containerd does for its pods with no one asking. */
const FLOOR_PERIOD_MS = 8000;

const manyStaticPods = (count: number) =>
  nodeMeasure({
    name: `static-${count}`,
    about: `${count} static pods: their files dropped at once, left alone, removed at once`,
    needs: 'pods',
    mostRounds: 2,
    figures: {
      median: { text: 'files to first log line, median', unit: 'ms' },
      last: { text: 'files to first log line, last', unit: 'ms' },
      ...IDLE_FIGURES,
      drain: { text: 'files removed to all gone', unit: 'ms' },
    },
    run: async (kubelet, world) => {
      const { node, size } = world;
      await kubelet.start();
      const pods = await runStaticPods(world, size.pods(count));
      await delay(size.period(SETTLE_MS));
      const usage = await watchUsage(node, size.period(PERIOD_MS));
      const drain = await pods.drain();
      return { median: median(pods.upAfter), last: last(pods.upAfter), ...idleValues(usage), drain };
    },
    floor: async (world) => {
      const { node, size } = world;
      const pods = await runDirectPods(world, size.pods(count));
      await delay(size.period(SETTLE_MS));
      const { containerdCpu } = await watchUsage(node, size.period(FLOOR_PERIOD_MS));
      return { median: median(pods.upAfter), last: last(pods.upAfter), containerdCpu, drain: await pods.drain() };
    },
  });

export const static50 = manyStaticPods(50);
export const static100 = manyStaticPods(100);
