import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Probe } from '../api/container.ts';
import { containerId, podUid, sandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { ContainerRunState, ObservedContainer } from '../model/observation.ts';
import type { ProbeSample } from './active-probe.ts';
import type { CheckTarget } from './checks/check.ts';
import { createProbing } from './probing.ts';
import type { Outcome } from './rules/outcome.ts';
import type { ProbedView } from './rules/wanted.ts';
import type { VerdictFiles, VerdictsOfPod } from './verdict-files.ts';
import { createVerdicts } from './verdicts.ts';

const START = 1_000_000;

interface Seen {
  readonly name?: string;
  readonly id?: string;
  readonly state?: ContainerRunState;
  readonly startedAt?: number;
}

function view(uid: string, containers: readonly Container[], seen: readonly Seen[], more: Partial<ProbedView> = {}) {
  const pod: Pod = { metadata: { name: `pod-${uid}`, namespace: 'n', uid }, spec: { containers } };
  const observed = seen.map(({ name = 'c', id = `${uid}-1`, state = 'running', startedAt = START }) => ({
    id: containerId(id),
    sandboxId: sandboxId(`s-${uid}`),
    name,
    state,
    startedAt,
  })) as unknown as readonly ObservedContainer[];
  const sandbox = { id: sandboxId(`s-${uid}`), attempt: 0, ready: true, createdAt: START, hostNetwork: false };
  const result: ProbedView = {
    uid: podUid(uid),
    pod,
    step: 'syncing',
    observation: {
      uid: podUid(uid),
      name: pod.metadata.name,
      namespace: 'n',
      takenAt: 0,
      sandboxes: [{ ...sandbox, ips: ['10.0.0.7'], runtimeHandler: '' }],
      containers: observed,
    },
    ...more,
  };
  return result;
}

const probe = (more: Probe = {}): Probe => ({ exec: { command: ['x'] }, periodSeconds: 10, ...more });

interface World {
  readonly clock?: Clock;
  readonly files?: VerdictFiles;
  readonly check?: (target: CheckTarget, signal: AbortSignal) => Promise<Outcome>;
}

const noFiles: VerdictFiles = { read: () => new Map(), write: () => Promise.resolve() };

function world({ files = noFiles, ...more }: World = {}) {
  const manual = createManualClock(START);
  const clock = more.clock ?? manual;
  const stop = new AbortController();
  const runs: {
    readonly at: number;
    readonly id: string;
    readonly probe: Probe;
    readonly podIp: string | undefined;
  }[] = [];
  const events: string[] = [];
  const woken: string[] = [];
  const samples: ProbeSample[] = [];
  const forgotten: string[] = [];
  let outcome: Outcome = { kind: 'success', output: '' };
  const verdicts = createVerdicts(files);
  const probing = createProbing({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    verdicts,
    check: (target, signal) => {
      runs.push({ at: clock.mono() - START, id: target.containerId, probe: target.probe, podIp: target.podIp });
      return more.check?.(target, signal) ?? Promise.resolve(outcome);
    },
    record: ({ container, reason, message }) => events.push(`${container} ${reason} ${message}`),
    wake: (uid) => woken.push(uid),
    nodeIps: () => ['192.0.2.10'],
    metrics: { observe: (sample) => samples.push(sample), forget: (uid) => forgotten.push(uid) },
  });
  probing.start(stop.signal);
  return {
    probing,
    results: verdicts.results,
    runs,
    events,
    woken,
    samples,
    forgotten,
    stop,
    say: (next: Outcome) => {
      outcome = next;
    },
    pass: async (ms: number) => {
      await manual.advance(ms);
      await settle();
    },
    times: (id: string) => runs.filter((run) => run.id === id).map(({ at }) => at),
  };
}

/** Lets everything that waits for nothing but its turn run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const failure: Outcome = { kind: 'failure', output: 'no' };
const id = containerId('a-1');

test('readiness: asked at once, then every period; the verdict changes by the thresholds and wakes the worker', async () => {
  const w = world();
  const spec = { name: 'c', readinessProbe: probe({ failureThreshold: 2 }) };
  w.probing.follow(view('a', [spec], [{}]));
  assert.equal(w.results.readiness.get(id), 'unknown');
  await w.pass(0);
  assert.equal(w.results.readiness.get(id), 'success');
  assert.deepEqual(w.woken, ['a']);
  w.say(failure);
  await w.pass(10_000);
  assert.equal(w.results.readiness.get(id), 'success');
  await w.pass(10_000);
  assert.equal(w.results.readiness.get(id), 'failure');
  w.say({ kind: 'success', output: '' });
  await w.pass(10_000);
  assert.equal(w.results.readiness.get(id), 'success');
  assert.deepEqual(w.woken, ['a', 'a', 'a']);
  assert.equal(w.runs.length, 4);
  assert.deepEqual(w.events, [
    'spec.containers{c} Unhealthy Readiness probe failed: no',
    'spec.containers{c} Unhealthy Readiness probe failed: no',
  ]);
  assert.deepEqual(
    w.samples.map(({ probeType, result, pod, container, uid }) => [probeType, result, pod, container, uid]),
    ['successful', 'failed', 'failed', 'successful'].map((result) => ['Readiness', result, 'pod-a', 'c', 'a']),
  );
  assert.equal(w.results.liveness.size + w.results.startup.size, 0, 'no entry for a probe that is not there');
});

test('the others wait for the startup probe; then readiness comes at once and liveness after a period', async () => {
  const w = world();
  const spec = {
    name: 'c',
    startupProbe: probe({ periodSeconds: 2, exec: { command: ['startup'] } }),
    readinessProbe: probe({ periodSeconds: 5, exec: { command: ['readiness'] } }),
    livenessProbe: probe({ periodSeconds: 3, exec: { command: ['liveness'] } }),
  };
  w.say(failure);
  w.probing.follow(view('a', [spec], [{}]));
  await w.pass(3_000);
  w.say({ kind: 'success', output: '' });
  const before = w.runs.length;
  assert.ok(w.runs.every(({ probe: { exec } }) => exec?.command?.[0] === 'startup'));
  assert.equal(w.results.startup.get(id), 'unknown');
  await w.pass(2_000);
  assert.equal(w.results.startup.get(id), 'success');
  const after = w.runs.slice(before).map(({ probe: { exec } }) => exec?.command?.[0]);
  assert.deepEqual(after, ['startup', 'readiness']);
  await w.pass(60_000);
  const counts = Map.groupBy(w.runs.slice(before), ({ probe: { exec } }) => exec?.command?.[0]);
  assert.equal(counts.get('startup')?.length, 1, 'never asked again');
  assert.ok((counts.get('liveness')?.length ?? 0) >= 17);
});

test('a failed startup or liveness is published once and not probed again until there is a new container', async () => {
  for (const field of ['startupProbe', 'livenessProbe'] as const) {
    const w = world();
    const spec = { name: 'c', [field]: probe({ failureThreshold: 2, periodSeconds: 1 }) };
    w.say(failure);
    w.probing.follow(view('a', [spec], [{}]));
    await w.pass(30_000);
    const type = field === 'startupProbe' ? 'startup' : 'liveness';
    assert.equal(w.results[type].get(id), 'failure');
    assert.equal(w.runs.length, 2, field);
    w.probing.follow(view('a', [spec], [{ state: 'exited' }]));
    assert.equal(w.results[type].size, 0);
    w.probing.follow(view('a', [spec], [{ id: 'a-2', startedAt: START + 30_000 }, { state: 'exited' }]));
    w.say({ kind: 'success', output: '' });
    await w.pass(1_500);
    assert.equal(w.results[type].get(containerId('a-2')), 'success');
    assert.ok(!w.results[type].has(id));
  }
});

test('no verdict and no event come from a check whose container is gone', async () => {
  const w = world({
    check: (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  const spec = { name: 'c', readinessProbe: probe() };
  w.probing.follow(view('a', [spec], [{}]));
  await w.pass(0);
  assert.equal(w.runs.length, 1);
  w.probing.follow(view('a', [spec], [{ state: 'exited' }]));
  await w.pass(60_000);
  assert.equal(w.runs.length, 1);
  assert.deepEqual([w.events, w.woken], [[], []]);
});

test('a pod that ends is asked only whether it still serves, and once it has ended nothing', async () => {
  const w = world();
  const spec = {
    name: 'c',
    startupProbe: probe({ exec: { command: ['startup'] }, periodSeconds: 1 }),
    readinessProbe: probe({ exec: { command: ['readiness'] }, periodSeconds: 1 }),
    livenessProbe: probe({ exec: { command: ['liveness'] }, periodSeconds: 1 }),
  };
  const other = { name: 'd', startupProbe: probe({ periodSeconds: 1, exec: { command: ['other'] } }) };
  const seen = [{}, { name: 'd', id: 'a-d' }];
  w.probing.follow(view('a', [spec, other], seen));
  await w.pass(3_000);
  w.say(failure);
  w.probing.follow(view('a', [spec, other], seen, { step: 'terminating' }));
  const before = w.runs.length;
  await w.pass(10_000);
  const asked = new Set(w.runs.slice(before).map(({ probe: { exec } }) => exec?.command?.[0]));
  assert.deepEqual([...asked], ['readiness']);
  assert.equal(w.results.readiness.get(id), 'failure');
  assert.equal(w.results.startup.get(id), 'success');
  w.probing.follow(view('a', [spec, other], seen, { step: 'terminated' }));
  const then = w.runs.length;
  await w.pass(10_000);
  assert.equal(w.runs.length, then);
  assert.equal(w.results.startup.size + w.results.readiness.size + w.results.liveness.size, 0);
  assert.deepEqual(w.forgotten, ['a']);
});

test('a state that the runtime does not know for a moment changes no verdict', async () => {
  const w = world();
  const spec = { name: 'c', readinessProbe: probe() };
  w.probing.follow(view('a', [spec], [{}]));
  await w.pass(0);
  w.probing.follow(view('a', [spec], [{ state: 'unknown' }]));
  assert.equal(w.results.readiness.get(id), 'success');
});

test('a check that failed to run is reported but not counted', async () => {
  const w = world();
  const spec = { name: 'c', readinessProbe: probe({ failureThreshold: 1, periodSeconds: 1 }) };
  w.probing.follow(view('a', [spec], [{}]));
  await w.pass(0);
  w.say({ kind: 'error', state: 'unknown', message: 'rpc error' });
  await w.pass(5_000);
  assert.equal(w.results.readiness.get(id), 'success');
  assert.equal(
    w.events[0],
    'spec.containers{c} Unhealthy Readiness probe errored and resulted in unknown state: rpc error',
  );
  assert.equal(w.samples.length, 1);
});

test('a warning counts as a success and is reported', async () => {
  const w = world();
  w.say({ kind: 'warning', output: 'Probe terminated redirects, Response body: x' });
  w.probing.follow(view('a', [{ name: 'c', readinessProbe: probe() }], [{}]));
  await w.pass(0);
  assert.equal(w.results.readiness.get(id), 'success');
  assert.deepEqual(w.events, [
    'spec.containers{c} ProbeWarning Readiness probe warning: Probe terminated redirects, Response body: x',
  ]);
});

test('silence during a stall of this process is not counted; an answer is', async () => {
  const manual = createManualClock(START);
  let skew = 0;
  const clock: Clock = { ...manual, mono: () => manual.mono() + skew };
  let outcome: Outcome = { kind: 'success', output: '' };
  const w = world({
    clock,
    check: () => {
      skew += 3_000;
      return Promise.resolve(outcome);
    },
  });
  const spec = { name: 'c', readinessProbe: probe({ failureThreshold: 1 }) };
  w.probing.follow(view('a', [spec], [{}]));
  await manual.advance(1);
  await settle();
  assert.equal(w.results.readiness.get(id), 'success');
  outcome = failure;
  await manual.advance(60_000);
  await settle();
  assert.ok(w.runs.length >= 4);
  assert.equal(w.results.readiness.get(id), 'success');
  assert.deepEqual(w.events, []);
  outcome = { kind: 'failure', output: 'not now', answered: true };
  await manual.advance(20_000);
  await settle();
  assert.equal(w.results.readiness.get(id), 'failure');
  assert.match(w.events[0] ?? '', /Readiness probe failed: not now/);
});

test('after a restart of the kubelet what was known holds from the first view on, and one failure moves nothing', async () => {
  const kept: VerdictsOfPod = new Map([
    [id, { startup: 'success', readiness: 'success' }],
    [containerId('a-old'), { readiness: 'failure' }],
  ]);
  const written: VerdictsOfPod[] = [];
  const files: VerdictFiles = {
    read: (uid) => (uid === 'a' ? kept : new Map()),
    write: (_, verdicts) => {
      written.push(new Map(verdicts));
      return Promise.resolve();
    },
  };
  const w = world({ files });
  const spec = {
    name: 'c',
    startupProbe: probe({ exec: { command: ['startup'] } }),
    readinessProbe: probe({ failureThreshold: 3 }),
  };
  w.probing.follow(view('a', [spec], [{ startedAt: START - 60_000 }]));
  assert.equal(w.results.startup.get(id), 'success');
  assert.equal(w.results.readiness.get(id), 'success');
  w.say(failure);
  await w.pass(25_000);
  assert.ok(w.runs.every(({ probe: { exec } }) => exec?.command?.[0] !== 'startup'));
  assert.equal(w.results.readiness.get(id), 'success');
  assert.deepEqual(w.woken, []);
  await w.pass(10_000);
  assert.equal(w.results.readiness.get(id), 'failure');
  assert.deepEqual(written, [new Map([[id, { startup: 'success', readiness: 'failure' }]])]);
});

test('without a file, the status that the pod came with gives the verdicts', () => {
  const w = world();
  const spec = { name: 'c', startupProbe: probe(), readinessProbe: probe() };
  const { pod, ...rest } = view('a', [spec], [{ startedAt: START - 60_000 }]);
  const published = { name: 'c', containerID: 'containerd://a-1', started: true, ready: true };
  const known = { ...pod, status: { containerStatuses: [published] } } as unknown as Pod;
  w.probing.follow({ ...rest, pod: known });
  assert.equal(w.results.readiness.get(id), 'success');
  const another = { ...published, containerID: 'containerd://a-0' };
  const w2 = world();
  w2.probing.follow({ ...rest, pod: { ...pod, status: { containerStatuses: [another] } } as unknown as Pod });
  assert.equal(w2.results.startup.get(id), 'unknown');
  assert.equal(w2.results.readiness.get(id), undefined);
});

test('a verdict is shown only when it would survive', async () => {
  const disk = Promise.withResolvers<void>();
  const w = world({ files: { read: () => new Map(), write: () => disk.promise } });
  w.probing.follow(view('a', [{ name: 'c', readinessProbe: probe() }], [{}]));
  await w.pass(0);
  assert.equal(w.results.readiness.get(id), 'unknown');
  disk.resolve();
  await settle();
  assert.equal(w.results.readiness.get(id), 'success');
  assert.deepEqual(w.woken, ['a']);
});

test('sidecars are probed, plain init and ephemeral containers are not', async () => {
  const w = world();
  const readinessProbe = probe();
  const { pod, ...rest } = view(
    'a',
    [{ name: 'c' }],
    [
      { name: 'side', id: 'side' },
      { name: 'init', id: 'init' },
      { name: 'eph', id: 'eph' },
    ],
  );
  const spec = {
    ...pod.spec,
    initContainers: [
      { name: 'side', readinessProbe, restartPolicy: 'Always' as const },
      { name: 'init', readinessProbe },
    ],
    ephemeralContainers: [{ name: 'eph', readinessProbe }],
  };
  w.say(failure);
  w.probing.follow({ ...rest, pod: { ...pod, spec } });
  await w.pass(1_000);
  assert.deepEqual([...new Set(w.runs.map((run) => run.id))], ['side']);
  assert.match(w.events[0] ?? '', /^spec\.initContainers\{side\} /);
});

test('the address is that of the sandbox, or the node’s with its network', async () => {
  const w = world();
  const { pod, ...rest } = view('a', [{ name: 'c', readinessProbe: probe() }], [{}]);
  w.probing.follow({ ...rest, pod });
  const host = view('b', [{ name: 'c', readinessProbe: probe() }], [{}]);
  w.probing.follow({ ...host, pod: { ...host.pod, spec: { ...host.pod.spec, hostNetwork: true } } });
  await w.pass(0);
  assert.deepEqual(
    w.runs.map(({ podIp }) => podIp),
    ['10.0.0.7', '192.0.2.10'],
  );
});

function tenths(times: readonly number[], from: number, periodMs: number): readonly number[] {
  const counts = new Array<number>(10).fill(0);
  for (const at of times) {
    if (at < from || at >= from + periodMs) continue;
    const slot = Math.floor((at - from) / (periodMs / 10));
    counts[slot] = (counts[slot] ?? 0) + 1;
  }
  return counts;
}

test('after a restart with 100 pods the probes are spread over the period from the first one on', async () => {
  const files: VerdictFiles = {
    read: (uid) => new Map([[containerId(`${uid}-1`), { readiness: 'success' }]]),
    write: () => Promise.resolve(),
  };
  const w = world({ files });
  const spec = { name: 'c', readinessProbe: probe() };
  for (let pod = 0; pod < 100; pod += 1) w.probing.follow(view(`p${pod}`, [spec], [{ startedAt: START - 60_000 }]));
  await w.pass(20_000);
  const counts = tenths(
    w.runs.map(({ at }) => at),
    0,
    10_000,
  );
  assert.ok(
    counts.every((count) => count >= 8 && count <= 12),
    counts.join(' '),
  );
});

test('100 containers that start at once are asked at once, and are spread over the period a little later', async () => {
  const w = world();
  const spec = { name: 'c', readinessProbe: probe() };
  for (let pod = 0; pod < 100; pod += 1) w.probing.follow(view(`p${pod}`, [spec], [{}]));
  await w.pass(0);
  assert.equal(w.runs.length, 100);
  await w.pass(150_000);
  const counts = tenths(
    w.runs.map(({ at }) => at),
    130_000,
    10_000,
  );
  assert.ok(
    counts.every((count) => count >= 8 && count <= 12),
    counts.join(' '),
  );
  const gaps = w.times('p7-1').map((at, index, all) => at - (all[index - 1] ?? at - 10_000));
  assert.ok(Math.min(...gaps) >= 9_999 && Math.max(...gaps) <= 11_001, gaps.join(' '));
});

test('stopping ends the checks under way and begins no other', async () => {
  const w = world({
    check: (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  });
  w.probing.follow(view('a', [{ name: 'c', readinessProbe: probe() }], [{}]));
  await w.pass(0);
  w.stop.abort(new Error('stopping'));
  await w.probing.stop();
  await w.pass(60_000);
  assert.equal(w.runs.length, 1);
});
