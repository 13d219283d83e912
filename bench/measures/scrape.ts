/** What statistics cost: a hundred pods, first with no one asking, then with a Prometheus and a metrics server. */
import { setTimeout as delay } from 'node:timers/promises';
import { nodeMeasure } from '../measure.ts';
import { median } from '../statistics.ts';
import { timeRequests } from '../world/requests.ts';
import { runStaticPods } from '../world/static-pods.ts';
import { type Usage, watchUsage } from '../world/usage.ts';

const PODS = 100;
const SETTLE_MS = 15_000;
const IDLE_MS = 10_000;
const SCRAPE_EVERY_MS = 10_000;
const SCRAPED_MS = 40_000;
const REQUESTS = 5;
const READ_ONLY = 'http://127.0.0.1:10255';
const PATHS = ['/metrics/cadvisor', '/metrics/resource', '/stats/summary', '/metrics'] as const;

export const scrape = nodeMeasure({
  name: 'scrape',
  about: `${PODS} static pods, not scraped and then scraped every ${SCRAPE_EVERY_MS / 1000} s`,
  needs: 'stats',
  mostRounds: 2,
  figures: {
    idleCpu: { text: 'no scraper: CPU of the kubelet', unit: '%' },
    kubeletCpu: { text: 'scraped: CPU of the kubelet', unit: '%' },
    containerdCpu: { text: 'scraped: CPU of containerd', unit: '%' },
    memory: { text: 'scraped: resident memory', unit: 'MB' },
    cadvisor: { text: '/metrics/cadvisor, median', unit: 'ms' },
    summary: { text: '/stats/summary, median', unit: 'ms' },
  },
  run: async (kubelet, world) => {
    const { node, size } = world;
    await kubelet.start();
    await runStaticPods(world, size.pods(PODS));
    await delay(size.period(SETTLE_MS));
    const idle = await watchUsage(node, size.period(IDLE_MS));
    const scrapeOnce = async () => {
      for (const path of PATHS) {
        const answer = await node.gate.request(`${READ_ONLY}${path}`, { headers: { 'accept-encoding': 'gzip' } });
        if (answer.status !== 200) throw new Error(`GET ${path}: status ${answer.status}`);
      }
    };
    await scrapeOnce();
    const scraped = await whileRepeated(scrapeOnce, size.period(SCRAPE_EVERY_MS), () =>
      watchUsage(node, size.period(SCRAPED_MS)),
    );
    const timed = async (path: string) =>
      median((await timeRequests(node, `${READ_ONLY}${path}`, size.times(REQUESTS))).map(({ ms }) => ms));
    return {
      idleCpu: idle.kubeletCpu,
      kubeletCpu: scraped.kubeletCpu,
      containerdCpu: scraped.containerdCpu,
      memory: scraped.kubeletMemory,
      cadvisor: await timed('/metrics/cadvisor'),
      summary: await timed('/stats/summary'),
    };
  },
});

async function whileRepeated(work: () => Promise<void>, everyMs: number, watch: () => Promise<Usage>): Promise<Usage> {
  const end = new AbortController();
  const scraping = (async () => {
    while (!end.signal.aborted) {
      await work();
      await delay(everyMs, undefined, { signal: end.signal }).catch(() => undefined);
    }
  })();
  const usage = await watch();
  end.abort();
  await scraping;
  return usage;
}
