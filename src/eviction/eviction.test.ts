import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import type { PodUsage } from '../model/usage.ts';
import { createEviction } from './eviction.ts';
import type { MemoryAlarm, StallAlarm } from './ports.ts';
import { computeThresholds } from './rules/threshold.ts';

const MI = 1 << 20;
const signal = new AbortController().signal;
const pod = (name: string): Pod =>
  ({
    metadata: { name, namespace: 'ns', uid: name },
    spec: { containers: [{ name: 'main', image: 'i' }] },
  }) as unknown as Pod;

/** A node whose free memory is what no pod uses. */
function createWorld(
  uses: Record<string, number>,
  {
    releasedAfterMs = 0,
    quickMemory = false,
    alarm,
    stalls,
  }: { releasedAfterMs?: number; quickMemory?: boolean; alarm?: MemoryAlarm; stalls?: StallAlarm } = {},
) {
  const clock = createManualClock(1_000_000);
  const ended: string[] = [];
  const events: string[] = [];
  const held: { until: number; bytes: number }[] = [];
  const running = new Map(Object.entries(uses));
  const free = () => {
    const late = held.filter(({ until }) => until > clock.now()).reduce((sum, { bytes }) => sum + bytes, 0);
    return 1000 * MI - late - [...running.values()].reduce((sum, bytes) => sum + bytes, 0);
  };
  const changes = { count: 0 };
  const eviction = createEviction(
    {
      clock,
      log: createSilentLogger(),
      supervisor: createTestSupervisor(clock, { beforeRound: throwOnce('eviction') }),
      usage: {
        signals: () =>
          Promise.resolve(
            new Map([
              [
                'memory.available',
                { available: free(), capacity: 1000 * MI, time: clock.now(), usedBytes: 1000 * MI - free() + 50 * MI },
              ],
            ]),
          ),
        pods: () =>
          Promise.resolve(
            new Map(
              [...running].map(([name, memory]): [ReturnType<typeof podUid>, PodUsage] => [
                podUid(name),
                { uid: podUid(name), memory, processes: 1, containers: [], volumes: new Map(), ephemeralBytes: 0 },
              ]),
            ),
          ),
        imageDisk: () => ({ isSeparate: false, isSplit: false }),
      },
      pods: {
        active: () => [...running.keys()].map(pod),
        end: (uid, { end, graceSeconds }) => {
          ended.push(`${uid} ${end.reason} ${graceSeconds}`);
          held.push({ until: clock.now() + releasedAfterMs, bytes: running.get(uid) ?? 0 });
          running.delete(uid);
        },
        untilEnded: () => Promise.resolve(),
      },
      alarm,
      stalls,
      reclaim: {
        shrinkLargeLogs: () => Promise.resolve(),
        removeDeadContainers: () => Promise.resolve(),
        removeUnusedImages: () => Promise.resolve(),
      },
      record: ({ reason, message }) => void events.push(`${reason}: ${message}`),
      onPressure: () => {
        changes.count += 1;
      },
      onEvicted: () => undefined,
      onStatsAge: () => undefined,
    },
    {
      ...computeThresholds({
        hard: { 'memory.available': '100Mi' },
        soft: {},
        softGraceMs: {},
        minimumReclaim: {},
        enforcesAllocatable: false,
      }),
      quickMemory,
      transitionMs: 60_000,
      maxGraceSeconds: 30,
      limitsStorage: true,
      podLevel: true,
    },
  );
  return { clock, eviction, ended, events, changes, running };
}

test('one pod goes at a time, until enough is free, and the pressure ends after the transition period', async () => {
  const { clock, eviction, ended, events, changes } = createWorld({
    small: 10 * MI,
    large: 600 * MI,
    middle: 350 * MI,
  });
  eviction.start(signal);
  await clock.advance(1000); // the loop fails once, and goes on
  assert.deepEqual(ended, ['large Evicted 1']);
  assert.deepEqual(events, ['EvictionThresholdMet: Attempting to reclaim memory']);
  assert.deepEqual(eviction.pressure(), { memory: true, disk: false, pid: false });
  const [decision] = eviction.decisions();
  assert.deepEqual(
    decision?.ranking.map(({ pod: name }) => name.split('/')[1]),
    ['large', 'middle', 'small'],
  );
  for (let second = 0; second < 90; second += 1) await clock.advance(1000);
  assert.deepEqual(eviction.pressure().memory, false);
  assert.deepEqual([ended.length, changes.count], [1, 2]);
});

test('no second pod goes while the memory of the first is not free yet', async () => {
  const { clock, eviction, ended } = createWorld({ small: 10 * MI, large: 950 * MI }, { releasedAfterMs: 5000 });
  eviction.start(signal);
  for (let step = 0; step < 40; step += 1) await clock.advance(500);
  assert.deepEqual(ended, ['large Evicted 1']);
});

test('the kernel is asked to report, and its report is acted on at once', async () => {
  const asked: string[] = [];
  let report: () => void = () => undefined;
  const alarm: MemoryAlarm = {
    watch: (name, bytes, onCrossed) => {
      asked.push(`${name} ${bytes / MI}`);
      report = onCrossed;
      return { close: () => void asked.push('closed') };
    },
  };
  const { clock, eviction, ended, running } = createWorld({ small: 10 * MI }, { alarm });
  const stopping = new AbortController();
  eviction.start(stopping.signal);
  await clock.advance(1000);
  assert.deepEqual(asked, ['memory.available 950'], 'the capacity less the threshold, and 50 Mi of cache');
  running.set('hog', 950 * MI);
  await clock.advance(300);
  assert.deepEqual(ended, []);
  report();
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  assert.deepEqual(ended, ['hog Evicted 1']);
  for (let step = 0; step < 30; step += 1) await clock.advance(500);
  assert.ok(asked.length >= 3, 'it is asked again for what is used then');
  stopping.abort('over');
  await eviction.stop?.();
  assert.equal(asked.filter((one) => one === 'closed').length, asked.filter((one) => one !== 'closed').length);
});

test('where processes wait for memory it is looked at at once, and what is available decides', async () => {
  let stall: () => void = () => undefined;
  const closes: string[] = [];
  const stalls: StallAlarm = {
    watchMemory: (onStalled) => {
      stall = onStalled;
      return { close: () => void closes.push('closed') };
    },
  };
  const { clock, eviction, ended, running } = createWorld({ small: 10 * MI }, { stalls });
  const stopping = new AbortController();
  eviction.start(stopping.signal);
  const stalled = async () => {
    await clock.advance(300);
    stall();
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  };
  await clock.advance(1000);
  running.set('reader', 850 * MI);
  await stalled();
  assert.deepEqual(ended, [], 'waiting alone costs no pod');
  running.set('hog', 100 * MI);
  await stalled();
  assert.deepEqual(ended, ['reader Evicted 1']);
  stopping.abort('over');
  await eviction.stop?.();
  assert.equal(closes.length, 1);
});

test('a kernel without such reports is no obstacle', async () => {
  const stalls: StallAlarm = {
    watchMemory: () => {
      throw new Error('no such file');
    },
  };
  const { clock, eviction, ended } = createWorld({ hog: 950 * MI }, { stalls });
  eviction.start(signal);
  await clock.advance(1000);
  assert.deepEqual(ended, ['hog Evicted 1']);
});

test('a kernel that reports nothing is looked at every second, where memory must be quick', async () => {
  const { clock, eviction, ended, running } = createWorld({ small: 10 * MI }, { quickMemory: true });
  eviction.start(signal);
  await clock.advance(1000);
  running.set('hog', 950 * MI);
  for (let step = 0; step < 4; step += 1) await clock.advance(300);
  assert.deepEqual(ended, ['hog Evicted 1']);
});

test('whenever a threshold is crossed: 5 s at most until the pod ends, 1 s where memory must be quick', async () => {
  for (const [quickMemory, mostMs] of [
    [false, 5000],
    [true, 1000],
  ] as const) {
    for (let phase = 0; phase < 5000; phase += 700) {
      const { clock, eviction, ended, running } = createWorld({ small: 10 * MI }, { quickMemory });
      const stopping = new AbortController();
      eviction.start(stopping.signal);
      await clock.advance(20_000 + phase);
      running.set('hog', 950 * MI);
      for (let waited = 0; waited < mostMs; waited += 100) await clock.advance(100);
      assert.deepEqual(ended, ['hog Evicted 1'], `${phase}`);
      stopping.abort('over');
      await eviction.stop?.();
    }
  }
});

test('a swing around the threshold is one change of the condition', async () => {
  const { clock, eviction, changes, running } = createWorld({});
  eviction.start(signal);
  for (let second = 0; second < 120; second += 1) {
    // The pod is evicted, and another comes.
    running.clear();
    if (second % 7 < 3) running.set('next', 950 * MI);
    await clock.advance(1000);
  }
  assert.equal(changes.count, 1);
  assert.equal(eviction.pressure().memory, true);
});

test('what was decided can be read: numbers, order, and why', async () => {
  const { clock, eviction } = createWorld({ small: 10 * MI, large: 940 * MI });
  eviction.start(signal);
  await clock.advance(1000);
  const [decision, ...others] = eviction.decisions();
  assert.deepEqual(others, []);
  assert.ok(decision);
  const { time: _, message, ...rest } = decision;
  assert.match(message, /^The node was low on resource: memory\. Threshold quantity: 100Mi, available: 50Mi\. /);
  assert.deepEqual(rest, {
    signal: 'memory.available',
    threshold: '100Mi',
    available: '50Mi',
    reclaimed: [],
    evicted: 'ns/large',
    ranking: [
      { pod: 'ns/large', uid: 'large', priority: 0, usage: 940 * MI, request: 0, critical: false },
      { pod: 'ns/small', uid: 'small', priority: 0, usage: 10 * MI, request: 0, critical: false },
    ],
  });
});
