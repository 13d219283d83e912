/** A node of the lab in which kubelets take turns: the same containerd, the same images, empty at the start of every turn. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSystemClock } from '../../src/base/clock.ts';
import { type CriClient, createCriClient } from '../../src/runtime/cri/client.ts';
import { type LabNode, lab } from '../../tests/lab/lab.ts';
import type { RuntimeName } from '../../tests/lab/supplies.ts';
import { destroyTree } from '../../tools/machine/cgroup-trees.ts';
import type { KubeletSettings } from '../../tools/machine/kubelet.ts';
import type { Size } from '../size.ts';
import { atATime } from './at-a-time.ts';
import { RUNTIME_METRICS_CONFIG } from './runtime-calls.ts';

export interface Contestant {
  readonly name: 'ours' | 'reference';
  readonly binary: string;
}

export interface BenchNode {
  readonly node: LabNode;
  readonly cri: CriClient;
  readonly size: Size;
  /** A name that no pod of this run has had. */
  podName(): string;
}

/** One kubelet in its turn. */
export interface KubeletUnderTest {
  readonly name: Contestant['name'];
  /** Answers how long it took until it was healthy, in milliseconds. Fields of KubeletConfiguration go over the usual ones. */
  start(config?: Readonly<Record<string, unknown>>): Promise<number>;
  stop(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
}

export interface Stage<W extends BenchNode> extends AsyncDisposable {
  readonly world: W;
  kubelet(contestant: Contestant): KubeletUnderTest;
  /** Removes whatever a turn has left, also one that failed half-way. */
  clear(): Promise<void>;
}

export const never = new AbortController().signal;

/** cgroups of the pods of kubelets, and of those that are made by hand. */
export const POD_CGROUPS = ['kubepods', 'bench'] as const;
const CLEARED_AT_A_TIME = 6;
const CLEARED_WITHIN_MS = 20_000;
const CLEAR_RETRY_MS = 100;

export async function openNode(runtime: RuntimeName, size: Size): Promise<Stage<BenchNode>> {
  const node = await lab.node({ kubelet: 'none', runtime, containerdConfig: RUNTIME_METRICS_CONFIG });
  const world = createBenchNode(node, size);
  return {
    world,
    kubelet: (contestant) => underTest(node, contestant, {}),
    clear: () => clearNode(world),
    [Symbol.asyncDispose]: () => closeNode(world),
  };
}

export function createBenchNode(node: LabNode, size: Size): BenchNode {
  let pods = 0;
  return {
    node,
    size,
    cri: createCriClient({ endpoint: node.containerd.endpoint, clock: createSystemClock() }),
    podName: () => {
      pods += 1;
      return `pod-${pods}`;
    },
  };
}

export async function closeNode({ cri, node }: BenchNode): Promise<void> {
  await cri.close();
  await node[Symbol.asyncDispose]();
}

export function underTest(
  node: LabNode,
  contestant: Contestant,
  settings: Pick<KubeletSettings, 'config' | 'flags'>,
): KubeletUnderTest {
  return {
    name: contestant.name,
    start: async (config = {}) => {
      const from = performance.now();
      await node.kubelet.start({
        binary: contestant.binary,
        flags: settings.flags ?? [],
        config: { ...settings.config, ...config },
      });
      return performance.now() - from;
    },
    stop: async () => {
      await node.kubelet.stop();
    },
    kill: async () => {
      await node.kubelet.kill('SIGKILL');
    },
  };
}

export async function clearNode({ node, cri }: BenchNode): Promise<void> {
  if (node.kubelet.isRunning()) await node.kubelet.kill('SIGKILL');
  await empty(node.manifestsDirectory);
  const sandboxes = await cri.sandboxes.list(undefined, never);
  await atATime(CLEARED_AT_A_TIME, sandboxes, ({ id }) => clearSandbox(cri, id));
  // The state of one kubelet is not the other one's business, and empty cgroups would be something to watch for both.
  for (const name of POD_CGROUPS) await destroyTree(node.world.hierarchies, join(node.world.cgroup, name));
  for (const directory of [node.kubeletDirectory, node.podLogsDirectory, node.containerLogsDirectory])
    await empty(directory);
}

/** What the killed kubelet asked for may still be under way in the runtime, which then refuses to do it twice. */
async function clearSandbox(cri: BenchNode['cri'], id: string): Promise<void> {
  const patience = performance.now() + CLEARED_WITHIN_MS;
  for (;;) {
    try {
      await cri.sandboxes.stop(id, never);
      await cri.sandboxes.remove(id, never);
      return;
    } catch (error) {
      if (performance.now() > patience) throw error;
      await delay(CLEAR_RETRY_MS);
    }
  }
}

async function empty(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true, force: true });
}
