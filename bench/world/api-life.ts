/** The life of one pod of the API server, dated by those who saw it: the API server, the runtime, the container itself. */
import { setTimeout as delay } from 'node:timers/promises';
import { waitUntilGone } from '../../tests/lab/cluster/wait.ts';
import { type CriProxy, startCriProxy } from '../../tests/lab/cri-proxy.ts';
import { PODS } from './api-pods.ts';
import type { BenchCluster } from './cluster.ts';
import { untilAllLogged } from './log-times.ts';
import { PODS_DEADLINE_MS, podSpec } from './static-pods.ts';

export interface Life {
  /** From the request that makes the pod to its first log line, ms. */
  readonly up: number;
  /** From the moment at which the API server reported the pod to the call that makes its sandbox, ms. */
  readonly sandboxAfter: number;
}

/** Watches pods as the kubelet does, beside it; and sees what it asks of the runtime. */
export interface LifeWatch extends AsyncDisposable {
  /** For the kubelet's configuration. */
  readonly endpoint: string;
  /** One pod from its beginning to its end; more of its spec goes over the usual one. */
  live(more: Readonly<Record<string, unknown>>, container?: object): Promise<Life>;
}

const RUN_SANDBOX = '/runtime.v1.RuntimeService/RunPodSandbox';
const LOOK_AGAIN_MS = 10;
const REST_MS = 500;

export async function watchLives(world: BenchCluster): Promise<LifeWatch> {
  const { admin, node } = world.cluster;
  const proxy = await startCriProxy(node.runtimeSocket);
  const stop = new AbortController();
  const reported = new Map<string, number>();
  const version = (await admin.get(PODS)).metadata?.resourceVersion;
  const watching = (async () => {
    for await (const { type, object } of admin.watch(`${PODS}?resourceVersion=${version}`, stop.signal)) {
      if (type === 'ADDED') reported.set(object.metadata?.name ?? '', performance.now());
    }
  })();
  // Ends with the measure; what it missed before is noticed by who waits for it.
  watching.catch(() => undefined);

  const live: LifeWatch['live'] = async (more, container = {}) => {
    const name = world.podName();
    const spec = { ...podSpec(container), terminationGracePeriodSeconds: 0, nodeName: node.nodeName, ...more };
    const from = Date.now();
    await admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
    const [logged = Number.NaN] = await untilAllLogged(node.podLogsDirectory, [`default_${name}_`], PODS_DEADLINE_MS);
    const seenAt = await untilKnown(() => reported.get(name), `${name} was not reported by the API server`);
    const askedAt = await untilKnown(() => sandboxCall(proxy, name), `no sandbox was asked for ${name}`);
    const { status, text } = await admin.request(`${PODS}/${name}`, { method: 'DELETE' });
    if (status >= 300) throw new Error(`DELETE ${name}: ${status} ${text.trim()}`);
    await waitUntilGone(admin, PODS, name);
    // What a kubelet and the runtime still remove after the object is gone is not to be measured with the next pod.
    await delay(REST_MS);
    return { up: logged - from, sandboxAfter: askedAt - seenAt };
  };

  return {
    endpoint: proxy.endpoint,
    live,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await proxy.close();
    },
  };
}

function sandboxCall(proxy: CriProxy, name: string): number | undefined {
  return proxy.calls().find(({ path, request }) => path === RUN_SANDBOX && request.includes(name))?.at;
}

async function untilKnown(read: () => number | undefined, otherwise: string): Promise<number> {
  const deadline = performance.now() + 5000;
  for (;;) {
    const value = read();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(otherwise);
    await delay(LOOK_AGAIN_MS);
  }
}
