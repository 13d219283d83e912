import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type PodUid, podUid } from '../api/ids.ts';
import { CodedError } from '../base/errors.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { Logind } from '../host/dbus/logind.ts';
import type { InotifyEvent } from '../host/inotify.ts';
import { IN } from '../host/inotify.ts';
import type { PodUpdate, PodView } from '../model/pod-view.ts';
import { DRAIN_REQUEST, encodeDrainRequest } from './rules/drain-request.ts';
import { decodeRecord } from './rules/record.ts';
import type { ShutdownConfig } from './settings.ts';
import { createNodeShutdown, type ShutdownDeps } from './shutdown.ts';

const PERIODS = [
  { priority: 0, seconds: 10 },
  { priority: 1000, seconds: 20 },
];

/** logind in memory: a lock that is held or not, and what it says. */
function createLogind() {
  const state = { delayMs: 60_000, isPreparing: false, locks: 0, reloads: 0, away: false };
  let listener: Parameters<Logind['watch']>[0] | undefined;
  const answer = <T>(value: () => T): Promise<T> =>
    state.away ? Promise.reject(new CodedError('unavailable', 'no bus')) : Promise.resolve(value());
  const logind: Logind = {
    inhibitDelay: () => answer(() => state.delayMs),
    isPreparing: () => answer(() => state.isPreparing),
    inhibit: () =>
      answer(() => {
        state.locks += 1;
        let isHeld = true;
        return {
          release: () => {
            if (isHeld) state.locks -= 1;
            isHeld = false;
          },
        };
      }),
    reload: () =>
      answer(() => {
        state.reloads += 1;
      }),
    watch: (given) => {
      listener = given;
      return () => undefined;
    },
  };
  const announce = (isActive: boolean) => {
    state.isPreparing = isActive;
    listener?.onShutdown(isActive);
  };
  const lose = () => listener?.onLost(new CodedError('unavailable', 'lost'));
  return { logind, state, announce, lose };
}

function createPods() {
  const views = new Map<PodUid, PodView>();
  const listeners = new Set<(update: PodUpdate) => void>();
  const ends: string[] = [];
  let reopened = 0;
  const put = (uid: string, priority: number, step: PodView['step']) => {
    const pod = { metadata: { uid, name: uid, namespace: 'default' }, spec: { priority, containers: [] } };
    const view = { uid: podUid(uid), pod, step } as unknown as PodView;
    views.set(view.uid, view);
    for (const listener of listeners) listener({ kind: 'view', view });
  };
  const pods: ReturnType<ShutdownDeps['pods']> = {
    views: () => [...views.values()],
    end: (uid, { graceSeconds, end }) => void ends.push(`${uid} ${graceSeconds} ${end.reason}`),
    reopen: () => {
      reopened += 1;
    },
    desired: () => ({ everySourceHeard: true }),
    subscribe: (_, listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return { pods, put, ends, reopened: () => reopened };
}

function world(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'shutdown-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const [logind, pods] = [createLogind(), createPods()];
  const events: string[] = [];
  const sent: string[][] = [];
  const watched: ((event: InotifyEvent) => void)[] = [];
  const times: (readonly [number, number])[] = [];
  const config: ShutdownConfig = { periods: PERIODS, directory, reportsTimes: true };
  const begin = async (more: Partial<ShutdownConfig> = {}, bootId = 'boot') => {
    const life = new AbortController();
    const shutdown = createNodeShutdown(
      {
        clock,
        log: createSilentLogger(),
        supervisor: createTestSupervisor(clock),
        bootId,
        logind: logind.logind,
        inotify: {
          watch: (_path, _mask, listener) => {
            watched.push(listener);
            return { close: () => undefined };
          },
        },
        pods: () => pods.pods,
        untilSent: async (uids) => void sent.push([...uids]),
        record: (event) => void events.push(`${event.type} ${event.reason} ${event.message}`),
        meter: { times: (start, end) => void times.push([start, end]) },
        onChange: () => undefined,
      },
      { ...config, ...more },
    );
    await shutdown.start(life.signal);
    const stop = async () => {
      life.abort(new Error('stopped'));
      await shutdown.stop?.();
    };
    t.after(stop);
    return { ...shutdown, stop };
  };
  const until = async (what: string, is: () => boolean) => {
    for (let turn = 0; !is(); turn += 1) {
      if (turn > 5000) throw new Error(`not reached: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const record = () => {
    const path = join(directory, 'node_closing.json');
    if (!existsSync(path)) return undefined;
    const outcome = decodeRecord(readFileSync(path, 'utf8'));
    return outcome.ok ? outcome.value : assert.fail(outcome.problem);
  };
  const requestDrain = (bootId = 'boot') => {
    const path = join(directory, DRAIN_REQUEST);
    writeFileSync(`${path}.new`, encodeDrainRequest({ bootId }));
    renameSync(`${path}.new`, path);
    for (const listener of watched) listener({ mask: IN.movedTo, name: DRAIN_REQUEST });
  };
  const cancelDrain = () => {
    rmSync(join(directory, DRAIN_REQUEST));
    for (const listener of watched) listener({ mask: IN.delete, name: DRAIN_REQUEST });
  };
  return { clock, logind, pods, events, sent, times, begin, until, record, requestDrain, cancelDrain, directory };
}

test('pods end group by group, statuses are sent, and only then the lock is released', async (t) => {
  const { logind, pods, begin, until, events, sent, record, times, directory } = world(t);
  const shutdown = await begin();
  assert.deepEqual([logind.state.locks, shutdown.isClosed(), shutdown.problem()], [1, false, undefined]);
  pods.put('low', 0, 'syncing');
  pods.put('high', 1000, 'syncing');
  logind.announce(true);
  assert.deepEqual([shutdown.isClosed(), shutdown.problem()], [true, 'node is shutting down']);
  await until('the first group', () => pods.ends.length === 1);
  assert.deepEqual(pods.ends, ['low 10 Terminated']);
  pods.put('low', 0, 'terminated');
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(pods.ends.length, 1, 'its volumes are still mounted');
  shutdown.unmounted(podUid('low'));
  await until('the second group', () => pods.ends.length === 2);
  assert.deepEqual(pods.ends[1], 'high 20 Terminated');
  assert.equal(logind.state.locks, 1);
  pods.put('high', 1000, 'terminated');
  shutdown.unmounted(podUid('high'));
  await until('the lock is free', () => logind.state.locks === 0);
  assert.deepEqual(sent, [['low', 'high']]);
  assert.deepEqual(events, ['Normal Shutdown Shutdown manager detected shutdown event']);
  assert.ok(record()?.endedAt !== undefined);
  assert.deepEqual(times, [
    [1_767_225_600, 0],
    [1_767_225_600, 1_767_225_600],
  ]);
  assert.match(readFileSync(join(directory, 'graceful_node_shutdown_state'), 'utf8'), /^\{"startTime":"2026-01-01T/);
});

test('a pod that does not end keeps no other waiting longer than its group has', async (t) => {
  const { clock, logind, pods, begin, until } = world(t);
  await begin();
  pods.put('stuck', 0, 'syncing');
  pods.put('high', 1000, 'syncing');
  logind.announce(true);
  await until('the first group', () => pods.ends.length === 1 && clock.sleepers() > 0);
  await clock.advance(9_900);
  assert.equal(pods.ends.length, 1);
  await clock.advance(200);
  await until('the second group', () => pods.ends.length === 2 && clock.sleepers() > 0);
  await clock.advance(20_000);
  await until('the lock is free', () => logind.state.locks === 0);
});

test('cancelled, the node is open again with a lock, and pods that were not told to end run on', async (t) => {
  const { logind, pods, begin, until, events, record } = world(t);
  const shutdown = await begin();
  pods.put('low', 0, 'syncing');
  pods.put('high', 1000, 'syncing');
  logind.announce(true);
  await until('the first group', () => pods.ends.length === 1);
  logind.announce(false);
  assert.equal(shutdown.isClosed(), false);
  await until('open', () => pods.reopened() === 1 && logind.state.locks === 1);
  pods.put('low', 0, 'terminated');
  shutdown.unmounted(podUid('low'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([pods.ends.length, record()], [1, undefined]);
  assert.equal(events.at(-1), 'Normal Shutdown Shutdown manager detected shutdown cancellation');
});

test('cancelled when the last pod has just ended, the lock for the next shutdown stays', async (t) => {
  const { logind, begin, until, times } = world(t);
  await begin();
  logind.announce(true);
  await until('its begin is shown', () => times.length === 1);
  // Its end is shown before the lock is released.
  await until('its end is shown', () => times.length === 2);
  logind.announce(false);
  await until('it has a lock', () => logind.state.locks > 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(logind.state.locks, 1);
});

test('another kubelet goes on where the first was killed', async (t) => {
  const { clock, logind, pods, begin, until, record } = world(t);
  const first = await begin();
  pods.put('low', 0, 'syncing');
  pods.put('high', 1000, 'syncing');
  logind.announce(true);
  await until('the first group', () => pods.ends.length === 1);
  await first.stop();
  await clock.advance(4_000);
  const second = await begin();
  assert.equal(second.isClosed(), true);
  await until('told again', () => pods.ends.length === 2);
  assert.deepEqual(pods.ends[1], 'low 6 Terminated');
  pods.put('low', 0, 'terminated');
  second.unmounted(podUid('low'));
  await until('the second group', () => pods.ends.length === 3);
  await second.stop();
  // Cancelled while no kubelet ran.
  logind.state.isPreparing = false;
  const third = await begin();
  await until('open', () => !third.isClosed() && record() === undefined);
});

test('after the next boot the node is open, and its drain is over', async (t) => {
  const { logind, pods, begin, until, record, requestDrain } = world(t);
  const first = await begin();
  pods.put('low', 0, 'syncing');
  requestDrain();
  await until('drained', () => pods.ends.length === 1);
  await first.stop();
  const second = await begin({}, 'another boot');
  await until('open', () => record() === undefined);
  assert.equal(second.isClosed(), false);
  assert.equal(logind.state.locks, 1);
});

test('a drain is the same without logind: each pod with its own grace, until it is cancelled', async (t) => {
  const { logind, pods, begin, until, events, record, requestDrain, cancelDrain } = world(t);
  const shutdown = await begin({ periods: [] });
  assert.equal(logind.state.locks, 0);
  pods.put('low', 0, 'syncing');
  requestDrain();
  await until('told to end', () => pods.ends.length === 1);
  assert.equal(shutdown.problem(), 'node is being drained');
  pods.put('low', 0, 'terminated');
  shutdown.unmounted(podUid('low'));
  await until('drained', () => record()?.endedAt !== undefined);
  cancelDrain();
  await until('open', () => pods.reopened() === 1);
  assert.deepEqual(events, ['Normal Drain Node drain was requested', 'Normal Drain Node drain was cancelled']);
});

test('without logind the kubelet starts, and takes the lock when logind is there', async (t) => {
  const { clock, logind, begin, until } = world(t);
  logind.state.away = true;
  const starting = begin();
  await starting;
  logind.state.away = false;
  await until('it waits', () => clock.sleepers() > 0);
  await clock.advance(1_000);
  await until('the lock', () => logind.state.locks === 1);
  // The bus was restarted: what was signalled meanwhile is read, and the lock is taken again.
  logind.state.isPreparing = true;
  logind.lose();
  await until('seen', () => logind.state.locks === 0);
});
