/** Pods through the API server: created and deleted there, and watched until the kubelet has done its part. */
import { setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../../src/base/errors.ts';
import type { Api, ApiObject } from '../../tests/lab/cluster/api.ts';
import type { BenchCluster } from './cluster.ts';
import { PODS_DEADLINE_MS, podSpec } from './static-pods.ts';

export const PODS = '/api/v1/namespaces/default/pods';

export interface ApiPods {
  /** From the first request to the moment that the API server reported each pod Ready, in milliseconds. */
  readonly readyAfter: readonly number[];
  /** Deletes them. Answers when each was gone from the API server, in milliseconds. */
  drain(): Promise<readonly number[]>;
}

export async function runApiPods(
  world: BenchCluster,
  count: number,
  wanted: Readonly<Record<string, unknown>> = podSpec(),
): Promise<ApiPods> {
  const { admin, node } = world.cluster;
  const names = Array.from({ length: count }, () => world.podName());
  // Bound to the node already: what the scheduler takes is not the kubelet's time.
  const spec = { nodeName: node.nodeName, ...wanted };
  const ready = await untilEach(admin, names, isReady, async (name) => {
    await admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  });
  return {
    readyAfter: ready,
    drain: () =>
      untilEach(
        admin,
        names,
        ({ type }) => type === 'DELETED',
        async (name) => {
          const { status, text } = await admin.request(`${PODS}/${name}`, { method: 'DELETE' });
          if (status >= 300) throw new Error(`DELETE ${name}: ${status} ${text.trim()}`);
        },
      ),
  };
}

interface WatchEvent {
  readonly type: string;
  readonly object: ApiObject;
}

interface PodStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

const isReady = ({ object }: WatchEvent): boolean =>
  (object.status as PodStatus | undefined)?.conditions?.some(
    ({ type, status }) => type === 'Ready' && status === 'True',
  ) ?? false;

/** Requests all of them at once, and waits until the watch has reported the expected change of each. */
async function untilEach(
  api: Api,
  names: readonly string[],
  isIt: (event: WatchEvent) => boolean,
  ask: (name: string) => Promise<void>,
): Promise<readonly number[]> {
  const { metadata } = await api.get(PODS);
  const left = new Set(names);
  const times: number[] = [];
  const stop = new AbortController();
  const from = performance.now();
  const watching = (async () => {
    let version = metadata?.resourceVersion;
    // On a busy machine the server ends watches now and then: the next one goes on where the last one was.
    while (!stop.signal.aborted) {
      for await (const event of api.watch(`${PODS}?resourceVersion=${version}`, stop.signal)) {
        const { name, resourceVersion } = event.object.metadata ?? {};
        if (event.type === 'ERROR') throw new Error(`the watch of pods: ${JSON.stringify(event.object)}`);
        version = resourceVersion;
        if (name !== undefined && isIt(event) && left.delete(name)) times.push(performance.now() - from);
        if (left.size === 0) return;
      }
    }
  })();
  const late = delay(PODS_DEADLINE_MS, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`${left.size} of ${names.length} pods are not done after ${PODS_DEADLINE_MS} ms`);
  });
  try {
    await Promise.all([Promise.race([watching, late]), ...names.map(ask)]);
    return times;
  } catch (cause) {
    throw new Error(`${names.length - left.size} of ${names.length} pods: ${describeError(cause)}`, { cause });
  } finally {
    stop.abort();
    // The one that lost the race must not become an unhandled rejection.
    watching.catch(() => undefined);
    late.catch(() => undefined);
  }
}
