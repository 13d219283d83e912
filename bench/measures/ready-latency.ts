/** How soon the API server shows that a pod is ready, or no longer: after its probe's answer, and after its container's start. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterMeasure } from '../measure.ts';
import { median, percentile } from '../statistics.ts';
import { PODS } from '../world/api-pods.ts';
import type { BenchCluster } from '../world/cluster.ts';
import { never } from '../world/node.ts';
import { isReady, parseFlips, type Reported, timesToReported } from '../world/readiness.ts';
import { podSpec } from '../world/static-pods.ts';

const PROBED = 40;
const FLIPS = 400;
const STARTS = 50;
const PORT = 17_008;
const PROGRAM = join(import.meta.dirname, '..', 'world', 'readiness-main.ts');
/** Between two pods, so that probes don't all come at once and starts don't wait for each other. */
const APART_MS = 100;
const LOOK_AGAIN_MS = 100;
/** After the last flip: far more than any kubelet needs to report it. */
const SETTLE_MS = 2000;
const DEADLINE_MS = 120_000;
const NANOSECONDS = 1_000_000n;

export const readyLatency = clusterMeasure({
  name: 'ready-latency',
  about: `${FLIPS} flips of the probes of ${PROBED} pods, and ${STARTS} starts of containers: until a watch of the API server shows it`,
  needs: 'api',
  mostRounds: 1,
  figures: {
    probe: { text: 'probe answered to API server, median', unit: 'ms' },
    probe99: { text: 'probe answered to API server, 99th', unit: 'ms' },
    start: { text: 'container started to API server, median', unit: 'ms' },
    start99: { text: 'container started to API server, 99th', unit: 'ms' },
    writes: { text: 'status writes for each flip', unit: '' },
  },
  run: async (kubelet, world) => {
    await kubelet.start();
    const server = await world.node.start({
      name: `readiness-${kubelet.name}`,
      argv: [process.execPath, '--disable-warning=ExperimentalWarning', PROGRAM, String(PORT)],
    });
    await using watching = watchPods(world);
    try {
      await server.waitForLog(/listening/, DEADLINE_MS);
      const flips = await flipAll(world, watching, server.logFile);
      await server.stop();
      const starts = await startSome(world, watching);
      const { times, writes } = flips;
      return {
        probe: median(times),
        probe99: percentile(times, 0.99),
        start: median(starts),
        start99: percentile(starts, 0.99),
        writes,
      };
    } finally {
      await server.stop();
    }
  },
});

interface Watching extends AsyncDisposable {
  readonly reports: readonly Reported[];
  /** Resolves when the watch has reported this. */
  until(what: string, is: (reports: readonly Reported[]) => boolean): Promise<void>;
}

/** The times are those at which this process has read of the change: the way through the lab's door to the cluster is in them. */
function watchPods({ cluster: { admin } }: BenchCluster): Watching {
  const stop = new AbortController();
  const reports: Reported[] = [];
  let failure: unknown;
  const reading = (async () => {
    const { metadata } = await admin.get(PODS);
    for await (const { type, object } of admin.watch(
      `${PODS}?resourceVersion=${metadata?.resourceVersion}&timeoutSeconds=600`,
      stop.signal,
    )) {
      if (type === 'ERROR') throw new Error(`the watch of pods: ${JSON.stringify(object)}`);
      if (type === 'MODIFIED')
        reports.push({ pod: object.metadata?.name ?? '', ready: isReady(object), at: Date.now() });
    }
    if (!stop.signal.aborted) throw new Error('the watch of pods has ended');
  })().catch((error: unknown) => {
    failure = error;
  });
  return {
    reports,
    until: async (what, is) => {
      const deadline = performance.now() + DEADLINE_MS;
      while (!is(reports)) {
        if (failure !== undefined && !stop.signal.aborted) throw failure;
        if (performance.now() > deadline) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`);
        await delay(LOOK_AGAIN_MS);
      }
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await reading;
    },
  };
}

async function flipAll(world: BenchCluster, watching: Watching, logFile: string) {
  const { size } = world;
  const names: string[] = [];
  for (let left = size.pods(PROBED); left > 0; left -= 1) {
    const name = world.podName();
    const httpGet = { host: '127.0.0.1', port: PORT, path: `/${name}` };
    await create(world, name, { readinessProbe: { httpGet, periodSeconds: 1, failureThreshold: 1 } });
    names.push(name);
    await delay(APART_MS);
  }
  const hasBeenReady = (name: string) => watching.reports.some(({ pod, ready }) => pod === name && ready);
  await watching.until('every pod has been ready', () => names.every(hasBeenReady));
  const flipsNow = async () => parseFlips(await readFile(logFile, 'utf8')).filter(({ pod }) => names.includes(pod));
  const from = Date.now();
  const fresh = async () => (await flipsNow()).filter(({ at }) => at >= from);
  while ((await fresh()).length < size.times(FLIPS)) await delay(LOOK_AGAIN_MS);
  const until = Date.now();
  await delay(SETTLE_MS);
  const flips = (await flipsNow()).filter(({ at }) => at >= from);
  const counted = flips.filter(({ at }) => at < until);
  // By the time of the watch, not of the probe: the few at both ends are as many.
  const written = watching.reports.filter(({ pod, at }) => names.includes(pod) && at >= from && at < until);
  return { times: timesToReported(flips, watching.reports), writes: written.length / counted.length };
}

/** From the moment that the runtime dates the start of the container with. */
async function startSome(world: BenchCluster, watching: Watching): Promise<readonly number[]> {
  const times: number[] = [];
  for (let left = world.size.times(STARTS); left > 0; left -= 1) {
    const name = world.podName();
    await create(world, name, {});
    await watching.until(`${name} is ready`, (reports) => reports.some(({ pod, ready }) => pod === name && ready));
    const shown = watching.reports.find(({ pod, ready }) => pod === name && ready)?.at ?? Number.NaN;
    const labelSelector = { 'io.kubernetes.pod.name': name };
    const [container] = await world.cri.containers.list({ labelSelector }, never);
    const status = container && (await world.cri.containers.status(container.id, {}, never))?.status;
    if (status === undefined) throw new Error(`the runtime has no container of ${name}`);
    times.push(shown - Number(status.startedAt / NANOSECONDS));
    await delay(APART_MS);
  }
  return times;
}

async function create({ cluster: { admin, node } }: BenchCluster, name: string, container: object): Promise<void> {
  const spec = { nodeName: node.nodeName, ...podSpec(container) };
  await admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
}
