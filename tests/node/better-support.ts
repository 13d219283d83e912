/** A lab node whose kubelet talks to its runtime through a proxy of ours. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { CriClient } from '../../src/runtime/cri/client.ts';
import { type Container, ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { type CriProxy, startCriProxy } from '../lab/cri-proxy.ts';
import type { LabNodeOptions } from '../lab/lab.ts';
import { BUSYBOX, never, type PodNode, podNode } from './pod-support.ts';

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

/** The first process of a container, as this machine knows it. */
export async function processOf(cri: CriClient, id: string): Promise<number> {
  const status = await cri.containers.status(id, { verbose: true }, never);
  const { pid } = JSON.parse(status?.info['info'] ?? '{}') as { readonly pid?: number };
  if (pid === undefined || pid <= 1) assert.fail(`the runtime tells no process of ${id}: ${pid}`);
  return pid;
}

/** Those that run. The runtime calls a container running until it has cleared it away: what counts is its process. */
export async function living(cri: CriClient, containers: readonly Container[]): Promise<readonly Container[]> {
  const running = containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  const alive = await Promise.all(running.map(({ id }) => hasProcess(cri, id)));
  return running.filter((_, index) => alive[index] === true);
}

async function hasProcess(cri: CriClient, id: string): Promise<boolean> {
  const status = await cri.containers.status(id, { verbose: true }, never);
  const { pid = 0 } = JSON.parse(status?.info['info'] ?? '{}') as { readonly pid?: number };
  return pid > 1 && existsSync(`/proc/${pid}`);
}

export interface HeldDeletes {
  /** For a lab node: a runc that does not clear a container away while it is held. */
  readonly runc: NonNullable<LabNodeOptions['runc']>;
  hold(): Promise<void>;
  release(): Promise<void>;
}

export async function holdDeletes(t: TestContext): Promise<HeldDeletes> {
  const directory = await mkdtemp(join(tmpdir(), 'runc-'));
  const flag = join(directory, 'held');
  const release = () => rm(flag, { force: true });
  t.after(() => rm(directory, { recursive: true }));
  return {
    runc: async (path) => {
      const program = join(directory, 'runc');
      const wait = `while [ -e ${flag} ]; do sleep 0.05; done`;
      await writeFile(program, `#!/bin/sh\ncase " $* " in *" delete "*) ${wait} ;; esac\nexec ${path} "$@"\n`);
      await chmod(program, 0o755);
      return program;
    },
    hold: () => writeFile(flag, ''),
    release,
  };
}
