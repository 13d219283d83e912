/** What is asked of a kubelet again and again: by Prometheus, and by the metrics server. */
import { setTimeout as delay } from 'node:timers/promises';
import { nodeMeasure } from '../measure.ts';
import { median } from '../statistics.ts';
import { timeRequests } from '../world/requests.ts';
import { runStaticPods } from '../world/static-pods.ts';

const PODS = 50;
const REQUESTS = 10;
/** The reference takes its readings every 10 to 15 s. */
const SETTLE_MS = 15_000;
const READ_ONLY = 'http://127.0.0.1:10255';

export const endpoints = nodeMeasure({
  name: 'endpoints',
  about: `/metrics/cadvisor and /stats/summary with ${PODS} static pods`,
  needs: 'stats',
  mostRounds: 2,
  figures: {
    cadvisor: { text: '/metrics/cadvisor, median', unit: 'ms' },
    cadvisorSize: { text: '/metrics/cadvisor, size', unit: 'KB' },
    summary: { text: '/stats/summary, median', unit: 'ms' },
    summarySize: { text: '/stats/summary, size', unit: 'KB' },
  },
  run: async (kubelet, world) => {
    const { node, size } = world;
    await kubelet.start();
    await runStaticPods(world, size.pods(PODS));
    await delay(size.period(SETTLE_MS));
    const ask = async (path: string) => {
      const responses = await timeRequests(node, `${READ_ONLY}${path}`, size.times(REQUESTS));
      return {
        ms: median(responses.map(({ ms }) => ms)),
        kilobytes: median(responses.map(({ bytes }) => bytes)) / 1000,
      };
    };
    const cadvisor = await ask('/metrics/cadvisor');
    const summary = await ask('/stats/summary');
    return {
      cadvisor: cadvisor.ms,
      cadvisorSize: cadvisor.kilobytes,
      summary: summary.ms,
      summarySize: summary.kilobytes,
    };
  },
});
