import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as afterOthers } from 'node:timers/promises';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { UsageSample } from '../model/usage-sample.ts';
import { createFeed, type FeedDeps, type Send } from './feed.ts';
import type { ShownPod } from './rules/pod-list.ts';

const STEP_MS = 100;

const shown = (uid: string, status: string): ShownPod => ({
  ...{ uid, namespace: 'n', name: uid, status, ready: '1/1', isReady: true, restarts: 0, createdAt: 0, ip: '' },
  ...{ isStatic: false, containers: ['c'], why: '' },
});

function createBench() {
  const clock = createManualClock();
  let pods: readonly ShownPod[] = [shown('a', 'Running')];
  let listener: () => void = () => undefined;
  let fails = 0;
  const requests: { readonly detail: boolean; readonly uids: readonly string[] }[] = [];
  const deps: FeedDeps = {
    clock,
    supervisor: createTestSupervisor(clock),
    sample: ({ detail, uids }) => {
      requests.push({ detail, uids: [...uids] });
      if (fails > 0) {
        fails -= 1;
        return Promise.reject(new Error('no statistics'));
      }
      const use = { cpu: clock.now() * 1e6, memory: 1, network: undefined, disk: undefined, waiting: undefined };
      const sample: UsageSample = {
        time: clock.now(),
        node: use,
        pods: pods.map(({ uid }) => ({ uid, ...use, containers: [{ name: 'c', ...use }] })),
      };
      return Promise.resolve(sample);
    },
    pods: () => pods,
    onPodChange: (given) => {
      listener = given;
      return () => undefined;
    },
    detail: (_, name) => pods.find((pod) => pod.name === name) ?? null,
  };
  const stopping = new AbortController();
  const feed = createFeed(deps);
  feed.start(stopping.signal);
  /** In steps, as what is woken takes some turns to go on. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= STEP_MS) {
      await clock.advance(Math.min(left, STEP_MS));
      await afterOthers();
    }
  };
  return {
    ...{ feed, requests, pass },
    change: (next: readonly ShownPod[]) => {
      pods = next;
      listener();
    },
    failOnce: () => {
      fails = 1;
    },
    stop: async () => {
      stopping.abort(new Error('the test is over'));
      await feed.stop?.();
    },
  };
}

function createReader() {
  const seen: (readonly [string, unknown])[] = [];
  const send: Send = (name, message) => void seen.push([name, JSON.parse(JSON.stringify(message))]);
  return { seen, send, names: () => seen.map(([name]) => name) };
}

test('while no one watches, samples are as rare as the past is kept', async () => {
  const bench = createBench();
  await bench.pass(62_000);
  assert.equal(bench.requests.length, 5);
  assert.ok(bench.requests.every(({ detail }) => !detail));
  assert.equal(bench.feed.history.node().times.length, 4);
  await bench.stop();
});

test('a page gets all pods at once, then what changes, and samples every second', async () => {
  const bench = createBench();
  await bench.pass(1);
  const { seen, send, names } = createReader();
  const leave = bench.feed.join({ pod: 'n/a', send });
  assert.deepEqual(names(), ['pods', 'pod']);
  await bench.pass(3000);
  assert.ok(names().filter((name) => name === 'sample').length >= 3, names().join());
  assert.deepEqual(bench.requests.at(-1), { detail: true, uids: ['a'] });
  const [, last] = seen.findLast(([name]) => name === 'sample') ?? [];
  assert.deepEqual(Object.keys((last as { detail: object }).detail), ['', 'c']);
  seen.length = 0;
  bench.change([shown('a', 'Failed'), shown('b', 'Running')]);
  await bench.pass(200);
  const [, message] = seen.find(([name]) => name === 'pods') ?? [];
  assert.deepEqual(
    (message as { changed: ShownPod[] }).changed.map(({ uid, status }) => [uid, status]),
    [
      ['a', 'Failed'],
      ['b', 'Running'],
    ],
  );
  seen.length = 0;
  bench.change([shown('b', 'Running')]);
  await bench.pass(200);
  assert.deepEqual(seen[0], ['pods', { changed: [], gone: ['a'] }]);
  assert.deepEqual(seen[1], ['pod', null]);
  leave();
  seen.length = 0;
  bench.change([]);
  await bench.pass(5000);
  assert.deepEqual(seen, []);
  await bench.stop();
});

test('page samples and page pods go on after one that failed', async () => {
  const bench = createBench();
  bench.failOnce();
  await bench.pass(120_000);
  assert.ok(bench.feed.history.node().times.length > 3);
  await bench.stop();
});
