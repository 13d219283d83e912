/** Static pods on a lab node under our kubelet: what they look like in the runtime, and what the kubelet said about them. */
import assert from 'node:assert/strict';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stringify } from 'yaml';
import { createSystemClock } from '../../src/base/clock.ts';
import { type CriClient, createCriClient } from '../../src/runtime/cri/client.ts';
import {
  type Container,
  ContainerState,
  type ContainerStatus,
  type PodSandbox,
} from '../../src/wire/gen/cri-runtime-v1.ts';
import { type LabNode, type LabNodeOptions, lab } from '../lab/lab.ts';
import { PATIENCE_MS } from '../lab/static-pods.ts';

export const BUSYBOX = 'lab.local/busybox:1';
export const never = new AbortController().signal;

export interface PodNode {
  readonly node: LabNode;
  readonly cri: CriClient;
  /** Puts a manifest into its place whole; removing the file it answers ends the pod. */
  write(name: string, spec: object, metadata?: object): Promise<string>;
  /** Newest first. */
  containers(pod: string, name?: string): Promise<readonly Container[]>;
  sandboxes(pod: string): Promise<readonly PodSandbox[]>;
  /** Waits until there is a container of that name and attempt, however short its life is. */
  appeared(pod: string, name: string, attempt: number): Promise<ContainerStatus>;
  /** Waits until the newest container of that name runs: one that stays, since a short life is easily missed. */
  running(pod: string, name: string, attempt?: number): Promise<ContainerStatus>;
  gone(pod: string): Promise<void>;
  /** What the kubelet told, as `reason: message`, in order. */
  events(pod: string): Promise<readonly string[]>;
  untilEvent(pod: string, text: RegExp): Promise<string>;
}

export async function podNode(t: TestContext, options: LabNodeOptions = {}): Promise<PodNode> {
  const { flags = [], ...rest } = options;
  const node = await lab.node({ test: t, ...rest, flags: ['-v=2', ...flags] });
  const cri = createCriClient({ endpoint: node.containerd.endpoint, clock: createSystemClock() });
  t.after(async () => {
    await cri.close();
    await node[Symbol.asyncDispose]();
  });
  const labels = (pod: string) => ({ labelSelector: { 'io.kubernetes.pod.name': `${pod}-${node.nodeName}` } });
  const newestFirst = <T extends { createdAt: bigint }>(all: readonly T[]) =>
    all.toSorted((a, b) => Number(b.createdAt - a.createdAt));

  const containers: PodNode['containers'] = async (pod, name) => {
    const all = newestFirst(await cri.containers.list(labels(pod), never));
    return name === undefined ? all : all.filter(({ metadata }) => metadata?.name === name);
  };
  const sandboxes: PodNode['sandboxes'] = async (pod) => newestFirst(await cri.sandboxes.list(labels(pod), never));
  const events: PodNode['events'] = async (pod) => {
    const log = await readFile(node.kubelet.logFile, 'utf8');
    return log
      .split('\n')
      .filter((line) => line.includes('"Event occurred"') && line.includes(`"default/${pod}-${node.nodeName}"`))
      .map((line) => `${/ reason="([^"]*)"/.exec(line)?.[1]}: ${/ message=("(?:\\.|[^"\\])*")/.exec(line)?.[1]}`);
  };
  return {
    node,
    cri,
    write: async (name, spec, metadata = {}) => {
      const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec };
      const half = join(node.world.directory, `${name}.half`);
      const path = join(node.manifestsDirectory, `${name}.yaml`);
      await writeFile(half, stringify(manifest));
      await rename(half, path);
      return path;
    },
    containers,
    sandboxes,
    appeared: (pod, name, attempt) =>
      until(`${pod}/${name} has its attempt ${attempt}`, async () => {
        const found = (await containers(pod, name)).find(({ metadata }) => metadata?.attempt === attempt);
        return found === undefined ? undefined : (await cri.containers.status(found.id, {}, never))?.status;
      }),
    running: (pod, name, attempt = 0) =>
      until(`${pod}/${name} runs`, async () => {
        const [newest] = await containers(pod, name);
        if (newest?.state !== ContainerState.CONTAINER_RUNNING || newest.metadata?.attempt !== attempt)
          return undefined;
        return (await cri.containers.status(newest.id, {}, never))?.status;
      }),
    gone: async (pod) => {
      await until(`${pod} is gone`, async () => {
        const left = [...(await containers(pod)), ...(await sandboxes(pod))];
        return left.length === 0 ? true : undefined;
      });
    },
    events,
    untilEvent: (pod, text) =>
      until(`event ${text} of ${pod}`, async () => (await events(pod)).find((event) => text.test(event))),
  };
}

/** Asks again and again until the answer is a value. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) assert.fail(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A container that says a word and then stays until it is told to go. */
export function stays(name: string, more: object = {}) {
  // Waits rather than looks: a hundred of these that look twenty times a second keep two cores busy.
  const script = `trap 'exit 0' TERM; echo ${name} is up; while true; do sleep 1000 & wait $!; done`;
  return { name, image: BUSYBOX, command: ['sh', '-c', script], ...more };
}

export function runs(name: string, script: string, more: object = {}) {
  return { name, image: BUSYBOX, command: ['sh', '-c', script], ...more };
}
