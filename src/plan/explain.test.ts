import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exited, makeContainer, makePod, makeSandbox, makeSnapshot, NOW, observe } from '../../tests/plan/builders.ts';
import { init } from '../../tests/plan/plan-cases.ts';
import { containerId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { ExplainedStep } from '../model/explanation.ts';
import type { Observation } from '../model/observation.ts';
import type { PodEnding } from '../model/pod-view.ts';
import { type StepReport, type StepSubject, stepKey } from '../model/step.ts';
import type { VolumeProgress } from '../model/volume-progress.ts';
import { computePlan } from './compute-plan.ts';
import { computeTermination } from './compute-termination.ts';
import { explainPod, explainPreemption } from './explain.ts';
import { EMPTY_JOURNAL, interruptJournal, type Journal, noteReport, noteRetry, planJournal } from './journal.ts';
import { cleanUpSteps, type PlannedStep, planSteps } from './steps.ts';

/** Seconds after `NOW`. */
type At = number;
type Happening =
  | readonly [At, 'begun' | 'queued' | 'done', StepSubject]
  | readonly [At, 'failed' | 'warning', StepSubject, string, string]
  | readonly [At, 'retry at', StepSubject, At]
  | readonly [At, 'interrupted', string, At];

interface Case {
  readonly name: string;
  readonly pod?: Pod;
  readonly planned?: readonly PlannedStep[];
  readonly observation?: Observation;
  readonly crashes?: ReadonlyMap<string, { waitMs: number; since: number }>;
  readonly happenings?: readonly Happening[];
  readonly ended?: PodEnding;
  readonly volumes?: readonly VolumeProgress[];
  /** One line for each step that is not done, after the first that is of interest. */
  readonly shows: readonly string[];
}

const nothing = observe([], []);
const running = observe([]);
const image: StepSubject = { kind: 'image', container: 'c', image: 'i', attempt: 0 };
const config: StepSubject = { kind: 'container-config', container: 'c', attempt: 0 };
const create: StepSubject = { kind: 'container-create', container: 'c', attempt: 0 };
const start: StepSubject = { kind: 'container-start', container: 'c', attempt: 0 };
const hook: StepSubject = { kind: 'hook', hook: 'postStart', container: 'c' };
const sandbox: StepSubject = { kind: 'sandbox-create', attempt: 0 };
const done = (at: At, ...subjects: readonly StepSubject[]): readonly Happening[] =>
  subjects.map((subject) => [at, 'done', subject]);
const prepared = done(1, { kind: 'directories' }, { kind: 'cgroup' });
const withVolumes = makePod({ volumes: [{ name: 'v', configMap: { name: 'm' } }] });
const volumes: StepSubject = { kind: 'volumes', names: ['v'] };
const hooked = makePod({ containers: [{ name: 'c', image: 'i', lifecycle: { postStart: { exec: {} } } }] });
const twoInits = makePod({ initContainers: [init('i1'), init('i2')] });
const claimed = makePod({ resourceClaims: [{ name: 'gpu' }] });
const claims: StepSubject = { kind: 'resource-claims', names: ['gpu'] };
const afterImage = 'container-config c: waits for step image/c since 0';
const rest = (cause: string) => ['container-create', 'container-start'].map((kind) => `${kind} c: ${cause}`);

const cases: readonly Case[] = [
  {
    name: 'a slow registry',
    happenings: [...prepared, [2, 'begun', image]],
    shows: [
      'image c: under way since 2, registry',
      `${afterImage}, registry`,
      ...rest('waits for step image/c since 0, registry'),
    ],
  },
  {
    name: 'a registry that fails, twice, with the time of the next try',
    happenings: [
      ...prepared,
      [2, 'failed', image, 'ErrImagePull', 'no such host'],
      [12, 'begun', image],
      [13, 'failed', image, 'ImagePullBackOff', 'Back-off pulling image "i"'],
      [13, 'retry at', image, 33],
    ],
    shows: [
      'image c: waits for retry since 2, registry; 2 × ImagePullBackOff: Back-off pulling image "i" at 13; next 33',
      `${afterImage}, registry`,
      ...rest('waits for step image/c since 0, registry'),
    ],
  },
  {
    name: 'an image name that no one can pull',
    happenings: [...prepared, [2, 'failed', image, 'InvalidImageName', 'm']],
    shows: [
      'image c: waits for retry since 2, user; 1 × InvalidImageName: m at 2',
      `${afterImage}, user`,
      ...rest('waits for step image/c since 0, user'),
    ],
  },
  {
    name: 'a missing config map or secret',
    happenings: [
      ...prepared,
      ...done(2, image),
      [2, 'begun', config],
      [3, 'failed', config, 'CreateContainerConfigError', 'configmap "m" not found'],
      [3, 'retry at', config, 13],
    ],
    shows: [
      'container-config c: waits for retry since 3, user; 1 × CreateContainerConfigError: configmap "m" not found at 3; next 13',
      ...rest('waits for step container-config/c since 0, user'),
    ],
  },
  {
    name: 'a network plugin that is broken: nothing of the pod starts',
    observation: nothing,
    happenings: [
      ...prepared,
      [2, 'begun', sandbox],
      [2, 'queued', sandbox],
      [3, 'begun', sandbox],
      [4, 'failed', sandbox, 'FailedCreatePodSandBox', 'cni plugin not initialized'],
      [4, 'retry at', sandbox, 5],
    ],
    shows: [
      'sandbox-create: waits for retry since 4, runtime; 1 × FailedCreatePodSandBox: cni plugin not initialized at 4; next 5',
      'image c: waits for step sandbox-create since 0, runtime',
      'container-config c: waits for step sandbox-create since 0, runtime',
      ...rest('waits for step sandbox-create since 0, runtime'),
    ],
  },
  {
    name: 'many pods start: it has to wait for its turn',
    observation: nothing,
    happenings: [...prepared, [2, 'begun', sandbox], [3, 'queued', sandbox]],
    shows: [
      'sandbox-create: waits for turn since 3, node',
      'image c: waits for step sandbox-create since 0, runtime',
      'container-config c: waits for step sandbox-create since 0, runtime',
      ...rest('waits for step sandbox-create since 0, runtime'),
    ],
  },
  {
    name: 'a postStart hook that hangs',
    pod: hooked,
    happenings: [...prepared, ...done(2, image, config, create, start), [3, 'begun', hook]],
    shows: ['hook c: under way since 3, container'],
  },
  {
    name: 'a container in back-off',
    observation: observe([exited('c', 3, { reason: 'Error', finishedAt: NOW - 1000, restartCount: 4 })]),
    crashes: new Map([['c', { waitMs: 80_000, since: NOW - 90_000 }]]),
    shows: ['container c: waits for back-off since -1, user; 5 × Error:  at -1; next 79'],
  },
  {
    name: 'an init container that runs: what comes after it waits',
    pod: twoInits,
    observation: observe([makeContainer('i1')]),
    shows: [
      'container i2: waits for container i1 succeeded since 0, container',
      'container c: waits for container i1 succeeded since 0, container',
    ],
  },
  {
    name: 'an init container whose image is not there: what comes after it waits for the registry',
    pod: makePod({ initContainers: [init('i1')] }),
    happenings: [...prepared, [2, 'failed', { ...image, container: 'i1' }, 'ErrImagePull', 'm']],
    shows: [
      'image i1: waits for retry since 2, registry; 1 × ErrImagePull: m at 2',
      ...['container-config', 'container-create', 'container-start'].map(
        (kind) => `${kind} i1: waits for step image/i1 since 0, registry`,
      ),
      'container c: waits for container i1 succeeded since 0, registry',
    ],
  },
  {
    name: 'a node that is full',
    planned: [],
    ended: { phase: 'Failed', reason: 'OutOfcpu', message: 'no cpu', rejected: true },
    shows: ['admission: refused since -10, node; 1 × OutOfcpu: no cpu at -10'],
  },
  {
    name: 'a critical pod for which no other one can be preempted',
    planned: [],
    ended: { phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'no pods', rejected: true },
    shows: ['admission: refused since -10, node; 1 × UnexpectedAdmissionError: no pods at -10'],
  },
  {
    name: 'a pod that the node refuses for what it asks',
    planned: [],
    ended: { phase: 'Failed', reason: 'NodeAffinity', message: 'no match', rejected: true },
    shows: ['admission: refused since -10, user; 1 × NodeAffinity: no match at -10'],
  },
  {
    name: 'a volume that hangs',
    pod: withVolumes,
    happenings: [...prepared, [2, 'begun', volumes]],
    volumes: [
      {
        name: 'v',
        plugin: 'kubernetes.io/nfs',
        stage: 'mount',
        since: NOW + 2000,
        usable: false,
        lastTry: undefined,
        nextTryAt: undefined,
      },
    ],
    shows: [
      'volume v (mount): under way since 2, volume',
      'volumes: under way since 2, volume',
      'image c: waits for step volumes since 0, volume',
      'container-config c: waits for step volumes since 0, volume',
      ...rest('waits for step volumes since 0, volume'),
    ],
  },
  {
    name: 'a volume whose config map is missing: its own error and its own next try',
    pod: withVolumes,
    happenings: [...prepared, [2, 'begun', volumes]],
    volumes: [
      {
        name: 'v',
        plugin: 'kubernetes.io/configmap',
        stage: 'fetch-object',
        since: NOW + 2000,
        usable: false,
        lastTry: { outcome: 'failed', message: 'configmap "m" not found', code: 'notFound', count: 3, at: NOW + 4000 },
        nextTryAt: NOW + 6000,
      },
    ],
    shows: [
      'volume v (fetch-object): waits for retry since 2, user; 3 × FailedMount: configmap "m" not found at 4; next 6',
      'volumes: under way since 2, volume',
      'image c: waits for step volumes since 0, volume',
      'container-config c: waits for step volumes since 0, volume',
      ...rest('waits for step volumes since 0, volume'),
    ],
  },
  {
    name: 'a volume whose config map the API server does not deliver',
    pod: withVolumes,
    happenings: [...prepared, [2, 'begun', volumes]],
    volumes: [
      {
        name: 'v',
        plugin: 'kubernetes.io/configmap',
        stage: 'fetch-object',
        since: NOW + 2000,
        usable: false,
        lastTry: { outcome: 'failed', message: 'no answer', code: 'unavailable', count: 1, at: NOW + 3000 },
        nextTryAt: undefined,
      },
    ],
    shows: [
      'volume v (fetch-object): waits for retry since 2, api-server; 1 × FailedMount: no answer at 3',
      'volumes: under way since 2, volume',
      'image c: waits for step volumes since 0, volume',
      'container-config c: waits for step volumes since 0, volume',
      ...rest('waits for step volumes since 0, volume'),
    ],
  },
  {
    name: 'a claim that no one prepares',
    pod: claimed,
    observation: nothing,
    happenings: [
      [1, 'failed', claims, 'FailedPrepareDynamicResources', 'm'],
      [1, 'retry at', claims, 2],
    ],
    shows: [
      'resource-claims: waits for retry since 1, node; 1 × FailedPrepareDynamicResources: m at 1; next 2',
      ...['directories', 'cgroup', 'sandbox-create', 'image c', 'container-config c'].map(
        (title) => `${title}: waits for step resource-claims since 0, node`,
      ),
      ...rest('waits for step resource-claims since 0, node'),
    ],
  },
  {
    name: 'a cgroup that the kernel refuses',
    observation: nothing,
    happenings: [
      ...done(1, { kind: 'directories' }),
      [1, 'failed', { kind: 'cgroup' }, 'FailedToCreatePodContainer', 'm'],
    ],
    shows: [
      'cgroup: waits for retry since 1, node; 1 × FailedToCreatePodContainer: m at 1',
      ...['sandbox-create', 'image c', 'container-config c'].map(
        (title) => `${title}: waits for step cgroup since 0, node`,
      ),
      ...rest('waits for step cgroup since 0, node'),
    ],
  },
  {
    name: 'a runtime that does not answer any more',
    happenings: [...prepared, ...done(2, image, config), [3, 'begun', create], [4, 'interrupted', 'no answer', 5]],
    shows: [
      'container-create c: waits for retry since 4, runtime; 1 × FailedSync: no answer at 4; next 5',
      'container-start c: waits for step container-create/c since 0, runtime',
    ],
  },
  {
    name: 'one container fails, the other one runs',
    pod: makePod({
      containers: [
        { name: 'c', image: 'i' },
        { name: 'd', image: 'i' },
      ],
    }),
    happenings: [
      ...prepared,
      [2, 'failed', image, 'ErrImagePull', 'm'],
      ...done(3, ...[image, config, create, start].map((subject) => ({ ...subject, container: 'd' }) as StepSubject)),
    ],
    shows: [
      'image c: waits for retry since 2, registry; 1 × ErrImagePull: m at 2',
      `${afterImage}, registry`,
      ...rest('waits for step image/c since 0, registry'),
    ],
  },
  {
    name: 'a pod that ends: its container has its grace, its sandbox waits',
    planned: planSteps(hooked, terminationOf(hooked)),
    happenings: [[0, 'begun', { kind: 'container-stop', container: 'c', id: containerId('c-id') }]],
    shows: [
      'container-stop c: under way since 0, container',
      'sandbox-stop: waits for step container-stop/c-id since 0, container',
    ],
  },
  {
    name: 'a pod that is removed while one of its volumes is busy',
    planned: cleanUpSteps('the pod is removed', true),
    happenings: [
      [1, 'failed', { kind: 'clean-up', what: 'volumes' }, 'FailedKillPod', 'device is busy'],
      [1, 'retry at', { kind: 'clean-up', what: 'volumes' }, 2],
    ],
    shows: [
      'clean-up volumes: waits for retry since 1, node; 1 × FailedKillPod: device is busy at 1; next 2',
      ...['cgroup', 'directories', 'logs'].map(
        (what) => `clean-up ${what}: waits for step clean-up/volumes since 0, node`,
      ),
    ],
  },
  { name: 'a pod that runs', observation: observe([makeContainer('c')]), shows: [] },
];

function terminationOf(pod: Pod) {
  const observation = observe([makeContainer('c')], [makeSandbox()]);
  return computeTermination({ pod, observation, now: NOW }, { graceSeconds: 30, since: NOW }).actions;
}

function journalOf({ pod = makePod(), observation = running, planned, crashes, happenings = [] }: Case): Journal {
  const plan = computePlan(makeSnapshot(pod, observation, crashes === undefined ? {} : { crashes }));
  const steps = planned ?? planSteps(pod, plan.actions, plan.held);
  const first = planJournal(EMPTY_JOURNAL, steps, { now: NOW, keepDone: true });
  // The same plan once more: what was begun, done or failed stays.
  const again = (journal: Journal) => planJournal(journal, steps, { now: NOW + 60_000, keepDone: true });
  return again(happenings.reduce(happen, first));
}

function happen(journal: Journal, happening: Happening): Journal {
  const now = NOW + happening[0] * 1000;
  if (happening[1] === 'interrupted') {
    const failure = { reason: 'FailedSync', message: happening[2] };
    return interruptJournal(journal, failure, NOW + happening[3] * 1000, now);
  }
  if (happening[1] === 'retry at') {
    const key = stepKey(happening[2]);
    return noteRetry(journal, (subject) => stepKey(subject) === key, NOW + happening[3] * 1000);
  }
  const [, kind, subject, reason, message] = happening;
  const failure = { reason: reason ?? '', message: message ?? '' };
  return noteReport(journal, { kind, subject, failure } as StepReport, now);
}

const seconds = (time: number) => (time - NOW) / 1000;

function line({ subject, state, failures, lastError, retryAt }: ExplainedStep): string {
  const names = { ...subject, name: undefined } as Partial<Record<string, string>>;
  const name = subject.kind === 'volume' ? `${subject.name} (${subject.stage})` : (names['container'] ?? names['what']);
  const title = name === undefined ? subject.kind : `${subject.kind} ${name}`;
  const error =
    lastError === undefined
      ? ''
      : `; ${failures} × ${lastError.reason}: ${lastError.message} at ${seconds(lastError.at)}`;
  const next = retryAt === undefined ? '' : `; next ${seconds(retryAt)}`;
  return `${title}: ${stateText(state)}${error}${next}`;
}

function stateText(state: ExplainedStep['state']): string {
  const since = `since ${seconds(state.since)}`;
  if (state.kind === 'done') return `done ${since}`;
  if (state.kind !== 'waiting') return `${state.kind === 'refused' ? 'refused' : 'under way'} ${since}, ${state.actor}`;
  const { for: cause } = state;
  const more =
    cause.kind === 'step'
      ? ` ${stepKey(cause.subject)}`
      : cause.kind === 'container'
        ? ` ${cause.container} ${cause.until}`
        : '';
  return `waits for ${cause.kind}${more} ${since}, ${state.actor}`;
}

for (const one of cases) {
  test(`explained: ${one.name}`, () => {
    const explanation = explainPod({
      pod: { uid: 'uid-1', namespace: 'ns', name: 'x' },
      step: 'syncing',
      acknowledgedAt: NOW - 10_000,
      ended: one.ended,
      volumes: one.volumes ?? [],
      journal: journalOf(one),
    });
    const open = explanation.steps.filter(({ state }) => state.kind !== 'done');
    assert.deepEqual(open.map(line), one.shows);
    assert.deepEqual(JSON.parse(JSON.stringify(explanation)), explanation, 'it is pure data');
    assert.equal(explanation.steps[0]?.subject.kind, 'admission');
    for (const { reason } of explanation.steps) assert.notEqual(reason, '', 'each step has a reason');
  });
}

test('a new attempt begins with no errors, and what the pod does not need any more is forgotten', () => {
  const steps = (attempt: number) =>
    planSteps(makePod(), [{ kind: 'container-start', name: 'c', role: 'regular', attempt, reason: 'r' }]);
  const terms = { now: NOW, keepDone: true };
  const failed = happen(planJournal(EMPTY_JOURNAL, steps(0), terms), [1, 'failed', image, 'ErrImagePull', 'm']);
  assert.equal(planJournal(failed, steps(1), terms).get('image/c')?.failures, 0);
  assert.deepEqual([...planJournal(failed, [], terms)], []);
  const finished = happen(failed, [2, 'done', image]);
  assert.deepEqual([...planJournal(finished, [], terms).keys()], ['image/c'], 'what was done stays');
  assert.deepEqual([...planJournal(finished, [], { ...terms, keepDone: false })], []);
});

test('a pod that preempts others waits for their end', () => {
  const pods = [{ uid: 'v', namespace: 'n', name: 'victim' }];
  assert.deepEqual(explainPreemption({ uid: 'u', namespace: 'n', name: 'p' }, pods, 5), {
    pod: { uid: 'u', namespace: 'n', name: 'p' },
    step: 'syncing',
    steps: [
      {
        subject: { kind: 'admission' },
        reason: 'the pod is new on this node',
        state: { kind: 'waiting', since: 5, actor: 'node', for: { kind: 'preemption', pods } },
        failures: 0,
      },
    ],
  });
});
