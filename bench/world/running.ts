/** What runs on a node, asked of the runtime. */
import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ContainerState, PodSandboxState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { type BenchNode, never } from './node.ts';

const LOOK_AGAIN_MS = 25;

/**
 * Waits until no pod has a process or a network any more. A pod's network namespace is the last thing that the runtime removes
 * when a sandbox is stopped (a sandbox is called not ready before that), and to look for it disturbs no one.
 */
export async function untilNoneRuns({ cri, node }: BenchNode, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const networks = `/proc/${node.world.anchorPid}/root/run/netns`;
  for (;;) {
    const left = (await readdir(networks)).length;
    if (left === 0) break;
    if (performance.now() > deadline) throw new Error(`${left} pods still have a network after ${timeoutMs} ms`);
    await delay(LOOK_AGAIN_MS);
  }
  const ready = await cri.sandboxes.list({ state: { state: PodSandboxState.SANDBOX_READY } }, never);
  if (ready.length > 0) throw new Error(`${ready.length} pods run without a network`);
}

export async function runningContainers({ cri }: BenchNode): Promise<ReadonlySet<string>> {
  const running = await cri.containers.list({ state: { state: ContainerState.CONTAINER_RUNNING } }, never);
  return new Set(running.map(({ id }) => id));
}
