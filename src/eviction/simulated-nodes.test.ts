/** 500 seeded nodes whose disks are too full: who goes, in which order, and how much. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { PodUsage } from '../model/usage.ts';
import { createEviction } from './eviction.ts';
import { computeThresholds } from './rules/threshold.ts';

const MI = 1 << 20;
const CAPACITY = 10_000 * MI;
const THRESHOLD = 1000 * MI;
const CRITICAL_PRIORITY = 2_000_000_000;

interface SimulatedPod {
  readonly name: string;
  readonly bytes: number;
  readonly request: number;
  readonly priority: number;
}

function createRandom(seed: number) {
  let state = seed * 2 + 1;
  const next = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
  for (let turn = 0; turn < 5; turn += 1) next();
  return { next, below: (most: number) => Math.floor(next() * most) };
}

/** What is on the disk, and in which order it went. */
function createNode(seed: number) {
  const { next, below } = createRandom(seed);
  const reclaim = below(300) * MI;
  const running = Array.from({ length: 1 + below(12) }, (_, index): SimulatedPod => {
    const isCritical = next() < 0.2;
    return {
      name: `p${index}`,
      bytes: below(1500) * MI,
      request: next() < 0.5 ? 0 : below(1000) * MI,
      priority: isCritical ? CRITICAL_PRIORITY : below(3) * 100,
    };
  });
  const images = Array.from({ length: below(6) }, () => (1 + below(400)) * MI);
  const sizes = {
    logs: below(50) * MI,
    dead: below(100) * MI,
    removeLogs: () => {
      sizes.logs = 0;
    },
    removeDead: () => {
      sizes.dead = 0;
    },
  };
  const rest = below(4000) * MI;
  const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
  const available = () =>
    CAPACITY - rest - sizes.logs - sizes.dead - sum(images) - sum(running.map(({ bytes }) => bytes));
  return { reclaim, running, images, sizes, available };
}

const asPod = ({ name, request, priority }: SimulatedPod): Pod =>
  ({
    metadata: { name, namespace: 'n', uid: name },
    spec: {
      containers: [{ name: 'c', image: 'i', resources: { requests: { 'ephemeral-storage': `${request}` } } }],
      priority,
      ...(priority === CRITICAL_PRIORITY && { priorityClassName: 'system-node-critical' }),
    },
  }) as unknown as Pod;

const useOf = ({ name, bytes }: SimulatedPod): [ReturnType<typeof podUid>, PodUsage] => [
  podUid(name),
  {
    uid: podUid(name),
    memory: 0,
    processes: 1,
    containers: [{ name: 'c', memory: 0, rootfs: { bytes, inodes: 1 }, logs: { bytes: 0, inodes: 1 } }],
    volumes: new Map(),
    ephemeralBytes: bytes,
  },
];

const isCritical = ({ priority }: SimulatedPod) => priority === CRITICAL_PRIORITY;
const isOver = ({ bytes, request }: SimulatedPod) => bytes > request;

/** What went, and what was wrong with it: an exception would be caught by the loop. */
function createTally(node: ReturnType<typeof createNode>) {
  const target = THRESHOLD + node.reclaim;
  const problems: string[] = [];
  const tally = { problems, evicted: 0, removedImages: 0 };
  const check = (isFine: boolean, problem: string) => {
    if (!isFine) problems.push(problem);
  };
  return {
    tally,
    end: (uid: string) => {
      const gone = node.running.find(({ name }) => name === uid);
      if (gone === undefined) return check(false, `${uid} went twice`);
      check(!isCritical(gone), 'a critical pod went');
      check(node.available() < target, 'enough was free already');
      check(node.images.length + node.sizes.logs + node.sizes.dead === 0, 'a pod went before what no pod needs');
      for (const other of node.running.filter((one) => one !== gone && !isCritical(one))) {
        check(isOver(gone) || !isOver(other), `${gone.name} went before ${other.name}, which is above its request`);
        if (isOver(gone) === isOver(other)) check(gone.priority <= other.priority, `priority of ${gone.name}`);
      }
      node.running.splice(node.running.indexOf(gone), 1);
      tally.evicted += 1;
    },
    removeImages: (bytes: number) => {
      const needed = Math.max(target - node.available(), 0);
      check(bytes <= needed + 1, `${bytes} bytes were asked for where ${needed} are missing`);
      for (let freed = 0; freed < bytes && node.images.length > 0; tally.removedImages += 1) {
        freed += node.images.shift() ?? 0;
      }
    },
  };
}

async function live(seed: number) {
  const node = createNode(seed);
  const { tally, end, removeImages } = createTally(node);
  const clock = createManualClock(1_000_000);
  const stopping = new AbortController();
  const supervisor = createTestSupervisor(clock);
  const read = () => ({ available: node.available(), capacity: CAPACITY, time: clock.now() });
  const eviction = createEviction(
    {
      clock,
      log: createSilentLogger(),
      supervisor,
      alarm: undefined,
      stalls: undefined,
      usage: {
        signals: () => Promise.resolve(new Map([['nodefs.available', read()]])),
        pods: () => Promise.resolve(new Map(node.running.map(useOf))),
        imageDisk: () => ({ isSeparate: false, isSplit: false }),
      },
      pods: { active: () => node.running.map(asPod), end, untilEnded: () => Promise.resolve() },
      reclaim: {
        shrinkLargeLogs: () => Promise.resolve(node.sizes.removeLogs()),
        removeDeadContainers: () => Promise.resolve(node.sizes.removeDead()),
        removeUnusedImages: (bytes) => Promise.resolve(removeImages(bytes)),
      },
      record: () => undefined,
      onPressure: () => undefined,
      onEvicted: () => undefined,
      onStatsAge: () => undefined,
    },
    {
      ...computeThresholds({
        hard: { 'nodefs.available': `${THRESHOLD}` },
        soft: {},
        softGraceMs: {},
        minimumReclaim: { 'nodefs.available': `${node.reclaim}` },
        enforcesAllocatable: false,
      }),
      ...{ quickMemory: false, transitionMs: 60_000, maxGraceSeconds: 30, limitsStorage: false, podLevel: true },
    },
  );
  const wasShort = node.available() < THRESHOLD;
  eviction.start(stopping.signal);
  for (let step = 0; step < 40; step += 1) await clock.advance(2500);
  stopping.abort('over');
  await eviction.stop?.();
  assert.equal(supervisor.problem(), undefined);
  assert.deepEqual(tally.problems, [], `seed ${seed}`);
  if (!wasShort) assert.deepEqual([tally.evicted, tally.removedImages], [0, 0], `seed ${seed}: nothing was short`);
  assert.ok(node.available() >= THRESHOLD || node.running.every(isCritical), `seed ${seed}: more could have gone`);
  assert.equal(eviction.decisions().filter((one) => one.evicted !== undefined).length, tally.evicted);
  return tally;
}

test('500 simulated nodes: critical pods stay, images go before pods, and no more goes than is missing', async () => {
  let [evicted, removedImages, spared] = [0, 0, 0];
  for (let seed = 1; seed <= 500; seed += 1) {
    const result = await live(seed);
    evicted += result.evicted;
    removedImages += result.removedImages;
    if (result.removedImages > 0 && result.evicted === 0) spared += 1;
  }
  // The nodes are such that each thing happens often.
  assert.ok(evicted > 100 && removedImages > 100 && spared > 10, `${evicted} pods, ${removedImages} images, ${spared}`);
});
