/** What a kubelet with nothing to do uses. */
import { setTimeout as delay } from 'node:timers/promises';
import { nodeMeasure } from '../measure.ts';
import { IDLE_FIGURES, idleValues, watchUsage } from '../world/usage.ts';

const SETTLE_MS = 5000;
const PERIOD_MS = 10_000;

export const idle = nodeMeasure({
  name: 'idle',
  about: 'a kubelet without pods, left alone',
  needs: 'health',
  figures: IDLE_FIGURES,
  run: async (kubelet, { node, size }) => {
    await kubelet.start();
    await delay(size.period(SETTLE_MS));
    return idleValues(await watchUsage(node, size.period(PERIOD_MS)));
  },
});
