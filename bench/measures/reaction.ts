/** Containers that end, one after the other, beside many that run: how soon the runtime is asked for the next one. */
import { kill } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { type Container, ContainerState } from '../../src/wire/gen/cri-runtime-v1.ts';
import { nodeMeasure } from '../measure.ts';
import { median, percentile } from '../statistics.ts';
import { followRequests, type RequestLog } from '../world/container-requests.ts';
import { runDirectPods } from '../world/direct-pods.ts';
import { type BenchNode, never } from '../world/node.ts';
import { runStaticPods } from '../world/static-pods.ts';

const PODS = 100;
const ENDS = 60;
/** Between two ends, so that none of them has to wait for the start of the one before. */
const PAUSE_MS = 400;
const LOOK_AGAIN_MS = 100;
const FLOOR_LOOK_MS = 3;
const DEADLINE_MS = 20_000;

export const reaction = nodeMeasure({
  name: 'reaction',
  about: `${ENDS} containers of ${PODS} end, one at a time: until the runtime is asked for the next one. The floor is when the runtime says that one has ended`,
  needs: 'pods',
  mostRounds: 1,
  figures: {
    median: { text: 'exit to request for the next, median', unit: 'ms' },
    most: { text: 'exit to request for the next, 99th', unit: 'ms' },
  },
  run: async (kubelet, world) => {
    await kubelet.start();
    await runStaticPods(world, world.size.pods(PODS));
    return summary(await endSome(world, untilNext));
  },
  floor: async (world) => {
    await runDirectPods(world, world.size.pods(PODS));
    return summary(await endSome(world, untilTold));
  },
});

const summary = (times: readonly number[]) => ({ median: median(times), most: percentile(times, 0.99) });

interface Ended {
  readonly container: Container;
  /** What the runtime was asked for since. */
  readonly requests: RequestLog;
  readonly from: number;
}

type UntilSeen = (world: BenchNode, ended: Ended) => Promise<number>;

async function endSome(world: BenchNode, untilSeen: UntilSeen): Promise<readonly number[]> {
  const running = await world.cri.containers.list({ state: { state: ContainerState.CONTAINER_RUNNING } }, never);
  const times: number[] = [];
  for (const container of running.slice(0, world.size.times(ENDS))) {
    const pid = await processOf(world, container.id);
    const requests = await followRequests(world.node);
    // The wall clock, since that is what the runtime dates its log by. From the signal on: what the process needs to end is in it.
    const from = Date.now();
    kill(pid, 'SIGTERM');
    times.push((await untilSeen(world, { container, requests, from })) - from);
    await delay(PAUSE_MS);
  }
  return times;
}

/** When the runtime was asked for another container of the same sandbox, by its log: to look seldom changes nothing about it. */
const untilNext: UntilSeen = async (_, { container: { id, podSandboxId }, requests, from }) => {
  for (;;) {
    await delay(LOOK_AGAIN_MS);
    const asked = await requests.firstIn(podSandboxId);
    if (asked !== undefined) return asked;
    if (Date.now() - from > DEADLINE_MS) throw new Error(`no container after ${id} within ${DEADLINE_MS} ms`);
  }
};

const untilTold: UntilSeen = async ({ cri }, { container: { id }, from }) => {
  for (;;) {
    const status = (await cri.containers.status(id, {}, never))?.status;
    if (status?.state === ContainerState.CONTAINER_EXITED) return Date.now();
    if (Date.now() - from > DEADLINE_MS) throw new Error(`${id} has not ended within ${DEADLINE_MS} ms`);
    await delay(FLOOR_LOOK_MS);
  }
};

async function processOf({ cri }: BenchNode, id: string): Promise<number> {
  const status = await cri.containers.status(id, { verbose: true }, never);
  const { pid } = JSON.parse(status?.info['info'] ?? '{}') as { readonly pid?: number };
  if (pid === undefined || pid <= 1) throw new Error(`the runtime reports no process of container ${id}: ${pid}`);
  return pid;
}
