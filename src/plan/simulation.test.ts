/**
 * Random pods with random fates, disturbed at random moments, walked through the decisions: whatever happens, nothing is
 * doubled, the order is kept, nothing runs more often than it may, and every chain of decisions comes to rest.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BACK_OFF } from '../../tests/plan/builders.ts';
import { describe } from '../../tests/plan/describe.ts';
import { Random, randomFate, randomPod } from '../../tests/plan/random-pod.ts';
import { type Fate, SimulatedRuntime } from '../../tests/plan/simulated-runtime.ts';
import { SimulatedWorker } from '../../tests/plan/simulated-worker.ts';
import type { Action, Plan } from '../model/plan.ts';
import { type Decision, decide } from './plan-ahead.ts';
import { asksToRestartAll, restartsAfterExit } from './restart-policy.ts';
import { roleOf } from './roles.ts';
import type { Snapshot } from './snapshot.ts';

type Start = Extract<Action, { kind: 'container-start' }>;

const seed = Number(process.env['SEED'] ?? 20261115);
const PODS = 1500;
const HOUR = 3_600_000;

function checkPlan(given: Snapshot, { plan, observation }: Decision, history: ReadonlySet<string>): void {
  const snapshot = { ...given, observation };
  const starts = plan.actions.filter((action): action is Start => action.kind === 'container-start');
  const names = starts.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length, 'a container is started twice in one plan');
  const stopped = new Set(plan.actions.flatMap((action) => (action.kind === 'container-stop' ? [action.id] : [])));
  const left = snapshot.observation.containers.filter(({ state, id }) => state === 'running' && !stopped.has(id));
  for (const { name } of left) assert.ok(!names.includes(name), `${name} is started beside itself`);
  if (plan.finished) assert.deepEqual([plan.actions, left], [[], []], 'a finished pod has nothing to do');
  for (const start of starts) checkStart(snapshot, start, plan);
  if (!plan.actions.some(({ kind }) => kind === 'sandbox-create')) {
    for (const start of starts) checkInitOrder(snapshot, start, history);
  }
  for (const id of given.observation.announced?.keys() ?? []) {
    assert.ok(!stopped.has(id), `${id} has ended and is asked to stop`);
  }
  const again = decide({ ...given, crashes: plan.crashes });
  assert.deepEqual(again.plan.actions, plan.actions, 'the same question has the same answer');
}

function checkStart({ pod, observation }: Snapshot, start: Start, plan: Plan): void {
  const { name, attempt, role } = start;
  const { spec } = roleOf(pod, name);
  const mine = observation.containers.filter((one) => one.name === name);
  const [last] = mine;
  for (const { restartCount } of mine) assert.ok(attempt > restartCount, `${name}#${attempt} is counted twice`);
  const newSandbox = plan.actions.some(({ kind }) => kind === 'sandbox-create');
  if (spec === undefined || last === undefined || role === 'ephemeral') return;
  const replaced = plan.actions.some((action) => action.kind === 'container-stop' && action.id === last.id);
  if (last.state === 'exited' && !replaced && !(newSandbox && role !== 'regular')) {
    assert.ok(restartsAfterExit(pod, spec, last.exitCode), `${name} may not run again after ${last.exitCode}`);
  }
}

/** Nothing starts before the init containers in front of it have had their success in this sandbox. */
function checkInitOrder({ pod, observation }: Snapshot, { name, role }: Start, history: ReadonlySet<string>): void {
  const box = observation.sandboxes[0]?.id;
  const init = pod.spec.initContainers ?? [];
  if (role === 'ephemeral' || pod.spec.containers.some((container) => history.has(`${box} started ${container.name}`)))
    return;
  const place = init.findIndex((container) => container.name === name);
  for (const before of place < 0 ? init : init.slice(0, place)) {
    const milestone = before.restartPolicy === 'Always' ? 'started' : 'succeeded';
    assert.ok(history.has(`${box} ${milestone} ${before.name}`), `${name} starts before ${before.name} ${milestone}`);
  }
}

/** Something that happens to a node. What it forgets or breaks must not cost a container that is well. */
function disturb(random: Random, runtime: SimulatedRuntime, worker: SimulatedWorker): void {
  switch (random.number(5)) {
    case 0:
      runtime.crashSandbox();
      return;
    case 1:
      worker.forget();
      return;
    case 2: {
      // The garbage collector, or an operator, removes what has ended.
      const ended = runtime.containers.filter(({ state }) => state === 'exited');
      runtime.containers = runtime.containers.filter((one) => !ended.includes(one) || random.in(2));
      return;
    }
    case 3:
      for (const container of runtime.running()) if (random.in(3)) container.state = 'unknown';
      return;
    default:
      for (const { name } of runtime.running()) if (random.in(4)) runtime.hashes.set(name, `h${random.number(3)}`);
  }
}

function liveOnce(podSeed: number): void {
  const random = new Random(podSeed);
  const pod = randomPod(random);
  const fates = new Map<string, Fate>();
  const runtime = new SimulatedRuntime(pod, (name, attempt) => {
    const key = `${name}#${attempt}`;
    const fate = fates.get(key) ?? randomFate(random, name);
    fates.set(key, fate);
    return fate;
  });
  // Shorter or longer than it takes to start the next one.
  runtime.lateMs = random.pick([0, 30, 3000]);
  const worker = new SimulatedWorker(pod, runtime);
  worker.onPlan = (snapshot, decision) => checkPlan(snapshot, decision, runtime.history);
  for (let stage = random.number(4); stage >= 0; stage -= 1) {
    const outcome = worker.runUntil(runtime.now + 1 + random.number(HOUR / 4));
    if (outcome === 'finished' || outcome === 'deadline') break;
    if (stage > 0) disturb(random, runtime, worker);
  }
  worker.terminate(30);
}

test(`${PODS} random pods (SEED=${seed})`, () => {
  for (let at = 0; at < PODS; at += 1) {
    const podSeed = seed * 10_007 + at;
    try {
      liveOnce(podSeed);
    } catch (cause) {
      throw new Error(`pod ${at} of SEED=${seed}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
  }
});

test('a kubelet that died at any moment of a life changes nothing about a well pod', () => {
  const random = new Random(seed);
  for (let at = 0; at < 200; at += 1) {
    const pod = randomPod(random);
    const runtime = new SimulatedRuntime(pod, (name) =>
      name.startsWith('i') && roleOf(pod, name).role === 'init'
        ? { exitCode: 0, endsAfterMs: 500 + random.number(3000) }
        : { exitCode: 0, upAfterMs: 300 },
    );
    const worker = new SimulatedWorker({ ...pod, spec: { ...pod.spec, activeDeadlineSeconds: 1e9 } }, runtime);
    const steps = 1 + random.number(8);
    for (let step = 0; step < steps; step += 1) {
      worker.runUntil(runtime.now + 1 + random.number(2000));
      worker.forget();
    }
    worker.runUntil(runtime.now + 60_000);
    const started = runtime.log.filter((line) => line.startsWith('start '));
    const expected = [
      ...(pod.spec.ephemeralContainers ?? []),
      ...(pod.spec.initContainers ?? []),
      ...pod.spec.containers,
    ];
    // An init container whose success restarts the whole pod never lets it come to rest.
    const restless = [...(pod.spec.initContainers ?? [])].some((container) => asksToRestartAll(container, 0));
    if (restless) continue;
    assert.deepEqual(started.toSorted(), expected.map(({ name }) => `start ${name}#0`).toSorted());
    assert.deepEqual(
      runtime.log.filter((line) => line.startsWith('stop ')),
      [],
    );
  }
});

test('a container that always crashes is started ever more seldom', () => {
  const pod = {
    ...randomPod(new Random(1)),
    spec: { restartPolicy: 'Always' as const, containers: [{ name: 'c', image: 'i' }] },
  };
  const runtime = new SimulatedRuntime(pod, () => ({ exitCode: 1, endsAfterMs: 1000 }));
  const worker = new SimulatedWorker(pod, runtime);
  const times: number[] = [];
  worker.onPlan = ({ now }, { plan }) => {
    if (plan.actions.some((action) => describe(action).startsWith('start'))) times.push(now);
  };
  assert.equal(worker.runUntil(runtime.now + HOUR), 'time is up');
  const gaps = times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / 1000));
  assert.deepEqual(gaps.slice(0, 8), [1, 11, 21, 41, 81, 161, 301, 301]);
  assert.ok(times.length < 20, `${times.length} starts in an hour with a wait of at most ${BACK_OFF.maxMs} ms`);
});
