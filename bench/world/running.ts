/** What runs on a node, asked of the runtime. */
import { setTimeout as delay } from 'node:timers/promises';
import { ContainerState, PodSandboxState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { type BenchNode, never } from './node.ts';

const LOOK_AGAIN_MS = 50;

/** A sandbox is stopped after its containers, so when none is ready, nothing runs any more. */
export async function untilNoneRuns({ cri }: BenchNode, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const ready = await cri.sandboxes.list({ state: { state: PodSandboxState.SANDBOX_READY } }, never);
    if (ready.length === 0) return;
    if (performance.now() > deadline) throw new Error(`${ready.length} pods still run after ${timeoutMs} ms`);
    await delay(LOOK_AGAIN_MS);
  }
}

export async function runningContainers({ cri }: BenchNode): Promise<ReadonlySet<string>> {
  const running = await cri.containers.list({ state: { state: ContainerState.CONTAINER_RUNNING } }, never);
  return new Set(running.map(({ id }) => id));
}
