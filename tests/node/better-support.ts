/** A lab node whose kubelet talks to its runtime through a proxy of ours. */
import type { TestContext } from 'node:test';
import { type CriProxy, startCriProxy } from '../lab/cri-proxy.ts';
import type { LabNodeOptions } from '../lab/lab.ts';
import { BUSYBOX, type PodNode, podNode } from './pod-support.ts';

export interface ProxiedNode extends PodNode {
  readonly proxy: CriProxy;
}

export async function proxiedNode(t: TestContext, options: LabNodeOptions = {}): Promise<ProxiedNode> {
  const { config = {}, kubelet = 'ours', ...rest } = options;
  // The reference has to be started once for the lab to know it; ours can wait for the proxy.
  const place = await podNode(t, { ...rest, kubelet: kubelet === 'ours' ? 'none' : kubelet });
  const proxy = await startCriProxy(place.node.runtimeSocket);
  t.after(() => proxy.close());
  if (place.node.kubelet.isRunning()) await place.node.kubelet.stop();
  await place.node.kubelet.start({ config: { ...config, containerRuntimeEndpoint: proxy.endpoint } });
  return { ...place, proxy };
}

/** The names p00, p01, … */
export function podNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `p${String(index).padStart(2, '0')}`);
}

/** Numbers that look random and are the same again for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export function seedOf(env: NodeJS.ProcessEnv): number {
  return Number(env['KUBELET_TS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
}

/** A container that waits without using the machine, and goes when it is told to. */
export function idles(name: string, more: object = {}) {
  return { name, image: BUSYBOX, command: ['sh', '-c', `trap 'exit 0' TERM; sleep 100000 & wait`], ...more };
}

/** The value that the given part of all values does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.ceil(part * sorted.length), sorted.length) - 1] ?? Number.NaN;
}
