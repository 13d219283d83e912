import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lifecycle } from '../api/container.ts';
import { containerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { createManualClock } from '../base/manual-clock.ts';
import type { PodEvent } from '../model/event.ts';
import type { StepReport } from '../model/step.ts';
import { type ContainerStop, stopContainer } from './container-stop.ts';
import { eventsOf } from './rules/events.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));
const PAUSE: Lifecycle = { preStop: { sleep: { seconds: 4 } } };
const pod: Pod = {
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [{ name: 'c', lifecycle: PAUSE }] },
};

/** A container that ends only by being killed, a hook that takes 4 s, and a clock that stands still. */
function setUp({ hook = true, hookFails = false, graceSeconds = 30, lifecycle = PAUSE } = {}) {
  const clock = createManualClock();
  const events: PodEvent[] = [];
  const stops: string[] = [];
  const hookEnds: number[] = [];
  const ended = Promise.withResolvers<void>();
  const kubelet = new AbortController();
  const stop: ContainerStop = {
    pod,
    container: hook ? { name: 'c', lifecycle } : undefined,
    id: containerId('id'),
    name: 'c',
    message: 'Stopping container c',
    graceSeconds,
    podIps: [],
    after: [],
  };
  const deps = {
    clock,
    runtime: {
      containers: {
        stop: (_: string, seconds: number) => {
          stops.push(`${clock.now() / 1000} s: ${seconds}`);
          return Promise.race([ended.promise, clock.sleep(seconds * 1000, kubelet.signal)]);
        },
      },
    },
    hooks: {
      run: async (_: unknown, signal: AbortSignal) => {
        await clock.sleep(4000, signal).finally(() => hookEnds.push(clock.now() / 1000));
        return hookFails ? 'exit code 1' : undefined;
      },
    },
    report: (about: Pod, report: StepReport) => void events.push(...eventsOf(about, report)),
  };
  const begin = (more: Partial<ContainerStop> = {}) => stopContainer(deps, { ...stop, ...more }, kubelet.signal);
  return { clock, events, stops, hookEnds, ended, kubelet, begin };
}

test('the hook comes first and uses up grace; the process gets the rest', async () => {
  const { clock, events, stops, begin, ended } = setUp();
  const stop = begin();
  await clock.advance(4000);
  await settle();
  assert.deepEqual(stops, ['4 s: 26']);
  ended.resolve();
  await stop.done;
  await settle();
  assert.deepEqual(
    events.map(({ reason, message, container }) => [reason, message, container]),
    [['Killing', 'Stopping container c', 'spec.containers{c}']],
  );
  assert.equal(clock.sleepers(), 1, 'only the fake runtime still waits');
});

test('a hook that fails is reported and holds nothing up', async () => {
  const failing = setUp({ hookFails: true });
  failing.begin();
  await failing.clock.advance(4000);
  await settle();
  assert.deepEqual(failing.events.at(-1)?.reason, 'FailedPreStopHook');
  assert.deepEqual(failing.stops, ['4 s: 26']);
});

test('a hook that outlasts the grace runs on until its container is killed, and has failed then', async () => {
  const long = setUp({ graceSeconds: 1, lifecycle: { preStop: { exec: { command: ['loop'] } } } });
  const stop = long.begin();
  await long.clock.advance(1000);
  await settle();
  assert.deepEqual(long.stops, ['1 s: 2'], 'the process still gets its two seconds');
  assert.deepEqual(long.hookEnds, []);
  await long.clock.advance(2000);
  await stop.done;
  await settle();
  assert.deepEqual(long.hookEnds, [3]);
  assert.deepEqual(
    long.events.map(({ reason }) => reason),
    ['Killing', 'FailedPreStopHook'],
  );
});

test('a sleep that outlasts its container is no failure', async () => {
  const { clock, events, hookEnds, begin } = setUp({ graceSeconds: 1 });
  const stop = begin();
  await clock.advance(3000);
  await stop.done;
  await settle();
  assert.deepEqual([hookEnds, events.map(({ reason }) => reason)], [[3], ['Killing']]);
});

test('no hook without grace', async () => {
  const { stops, begin } = setUp({ graceSeconds: 0 });
  begin();
  await settle();
  assert.deepEqual(stops, ['0 s: 2']);
});

test('a shortened grace counts during the hook and during the stop, a longer one never', async () => {
  const during = setUp();
  const stop = during.begin();
  await during.clock.advance(1000);
  stop.shorten(60);
  stop.shorten(1);
  await during.clock.advance(1000);
  await settle();
  assert.deepEqual(during.stops, ['2 s: 2']);

  const later = setUp({ hook: false });
  const second = later.begin();
  await settle();
  await later.clock.advance(5000);
  second.shorten(24.9);
  second.shorten(1);
  await settle();
  assert.deepEqual(later.stops, ['0 s: 30', '5 s: 1'], 'what is left of the same grace shortens nothing');
  await later.clock.advance(1000);
  await second.done;
});

test('the signal waits for those that must end first, as long as there is grace', async () => {
  const { clock, stops, begin } = setUp({ hook: false, graceSeconds: 10 });
  const other = Promise.withResolvers<void>();
  begin({ after: [other.promise] });
  await clock.advance(3000);
  await settle();
  assert.deepEqual(stops, []);
  other.reject(new Error('it did not go well'));
  await settle();
  assert.deepEqual(stops, ['3 s: 7']);

  const patient = setUp({ hook: false, graceSeconds: 10 });
  patient.begin({ after: [Promise.withResolvers<void>().promise] });
  await patient.clock.advance(10_000);
  await settle();
  assert.deepEqual(patient.stops, ['10 s: 2']);
});

test('when the kubelet stops, nothing more is asked of the runtime', async () => {
  const { kubelet, stops, begin } = setUp();
  const stop = begin();
  kubelet.abort(new Error('the kubelet is stopping'));
  await assert.rejects(stop.done, /the kubelet is stopping/);
  assert.deepEqual(stops, []);
});
