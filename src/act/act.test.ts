import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sandboxId } from '../api/ids.ts';
import { CodedError } from '../base/errors.ts';
import type { Action } from '../model/plan.ts';
import { actScene, id, makePod, observed, settle } from './act-testing.ts';

const makeSandbox: Action = { kind: 'sandbox-create', attempt: 0, reason: 'r' };
const startOf = (name: string, role: 'init' | 'regular' | 'ephemeral' = 'regular'): Action => ({
  ...{ kind: 'container-start', name, role, attempt: 0, reason: 'r' },
});
const stopOf = (name: string, more: object = {}): Action => ({
  ...{ kind: 'container-stop', id: id(`${name}-id`), name, role: 'regular', message: 'm', reason: 'Unknown' },
  ...{ graceSeconds: 30, ...more },
});
const rejected = (error: Error) => () => Promise.reject(error);
const reasons = (events: readonly { reason: string; message: string }[]) =>
  events.map(({ reason, message }) => `${reason}: ${message}`);

test('a pod from nothing: prepared, sandbox, container, in this order, each step begun and done', async () => {
  const { act, context, calls, reports, events } = actScene(makePod());
  const outcomes = await act.carryOut([makeSandbox, startOf('c')], context);
  assert.deepEqual(outcomes, [{ kind: 'start', name: 'c', outcome: { kind: 'started', id: 'c1' } }]);
  assert.deepEqual(calls, [
    ...['prefetch', 'directories', 'cgroup', 'volumes', 'sandbox-request', 'pod-logs', 'hold', 'run 0'],
    ...['image c', 'sandbox-request', 'request c', 'hold', 'create c in s1', 'start c1', 'link c c1 0', 'release'],
  ]);
  assert.deepEqual(reports, [
    ...['begun directories', 'begun cgroup', 'done directories', 'done cgroup'],
    ...['begun sandbox-create', 'queued sandbox-create', 'begun sandbox-create', 'done sandbox-create'],
    ...['image/c', 'container-config/c', 'container-create/c', 'container-start/c'].flatMap((key) => [
      `begun ${key}`,
      `done ${key}`,
    ]),
  ]);
  assert.deepEqual(reasons(events), ['Created: Container created', 'Started: Container started']);
});

const BLOCKED: readonly (readonly [string, string, () => Promise<unknown>, string, string])[] = [
  [
    'directories',
    'directories',
    rejected(new Error('disk full')),
    'directories',
    'FailedToMakePodDataDirectories: error making pod data directories: disk full',
  ],
  [
    'cgroup',
    'cgroup',
    rejected(new Error('EBUSY')),
    'cgroup',
    'FailedToCreatePodContainer: unable to ensure pod container exists: EBUSY',
  ],
  [
    'volumes',
    'volumes',
    () => Promise.resolve({ kind: 'waiting', reason: 'FailedMount', message: 'timed out' }),
    'volumes',
    'FailedMount: timed out',
  ],
  [
    'sandbox request',
    'sandbox-request',
    () => Promise.resolve({ kind: 'problem', message: 'no such class' }),
    'sandbox-create',
    'FailedCreatePodSandBox: Failed to create pod sandbox: no such class',
  ],
  [
    'log directory',
    'pod-logs',
    rejected(new Error('EROFS')),
    'sandbox-create',
    'FailedCreatePodSandBox: Failed to create pod sandbox: EROFS',
  ],
  [
    'sandbox',
    'run',
    rejected(new CodedError('internal', 'cni failed')),
    'sandbox-create',
    'FailedCreatePodSandBox: Failed to create pod sandbox: cni failed',
  ],
];

for (const [name, call, answer, subject, event] of BLOCKED) {
  test(`nothing of the pod starts without its ${name}`, async () => {
    const pod = makePod({}, { volumes: [{ name: 'v', emptyDir: {} }] });
    const { act, context, calls, reports, events } = actScene(pod, { [call]: answer });
    const outcomes = await act.carryOut([makeSandbox, startOf('c')], context);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.kind === 'blocked' ? outcome.subject.kind : outcome.kind)),
      [subject],
    );
    assert.deepEqual(reasons(events), [event]);
    assert.ok(reports.includes(`failed ${subject}: ${event.split(':')[0]}`), reports.join('\n'));
    assert.ok(!calls.includes('image c'), 'no container is tried');
    assert.equal(calls.at(-1), 'release');
  });
}

test('claims come before everything else', async () => {
  const { act, context, calls, events } = actScene(makePod({}, { resourceClaims: [{ name: 'gpu' }] }));
  await act.carryOut([makeSandbox, startOf('c')], context);
  assert.deepEqual(calls, ['release']);
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['FailedPrepareDynamicResources'],
  );
});

test('a regular container that fails holds up no other, an init container does; one that is held back is not tried', async () => {
  const pod = makePod({}, { containers: [{ name: 'c' }, { name: 'd' }], initContainers: [{ name: 'i' }] });
  const waits = () => Promise.resolve({ kind: 'waiting', reason: 'ErrImagePull', message: 'm', retryAt: 5 });
  const regular = actScene(pod, { image: waits });
  const outcomes = await regular.act.carryOut([startOf('c'), startOf('d')], regular.context);
  assert.deepEqual(outcomes.length, 2);
  const first = actScene(pod, { image: waits });
  await first.act.carryOut([startOf('i', 'init'), startOf('c')], first.context);
  assert.deepEqual(
    first.calls.filter((call) => call.startsWith('image')),
    ['image i'],
  );
  const held = actScene(pod);
  const isHeldBack = (name: string) => name === 'c';
  await held.act.carryOut([startOf('c'), startOf('d')], { ...held.context, isHeldBack });
  assert.deepEqual(
    held.calls.filter((call) => call.startsWith('image')),
    ['image d'],
  );
});

test('containers stop side by side, and those that others wait for first; then the sandbox', async () => {
  const pod = makePod({}, { containers: [{ name: 'c' }], initContainers: [{ name: 's', restartPolicy: 'Always' }] });
  const ended = Promise.withResolvers<void>();
  const { act, context, calls, events } = actScene(pod, { stop: () => ended.promise });
  const done = act.carryOut(
    [stopOf('s', { after: ['c-id'] }), stopOf('c'), { kind: 'sandbox-stop', id: sandboxId('s0'), reason: 'r' }],
    context,
  );
  await settle();
  assert.deepEqual(calls, ['release', 'stop c-id 30'], 'the sidecar waits for the container that it serves');
  ended.resolve();
  await done;
  assert.deepEqual(calls, ['release', 'stop c-id 30', 'stop s-id 30', 'stop-sandbox s0', 'release']);
  assert.deepEqual(reasons(events), ['Killing: m', 'Killing: m']);
});

test('a stop goes on when the pod must end: the pass is over, and a second request only shortens it', async () => {
  const ended = Promise.withResolvers<void>();
  const { act, context, calls, ending, clock } = actScene(makePod(), { stop: () => ended.promise });
  const done = act.carryOut([stopOf('c')], context);
  ending.abort(new Error('the pod must end'));
  await assert.rejects(done, /the pod must end/);
  const { signal } = context;
  const second = act.carryOut([stopOf('c', { graceSeconds: 5 })], { ...context, wanted: signal });
  await settle();
  assert.deepEqual(
    calls.filter((call) => call.startsWith('stop')),
    ['stop c-id 30', 'stop c-id 5'],
  );
  ended.resolve();
  await second;
  assert.equal(clock.sleepers(), 0);
});

test('what fails while something is stopped or removed is reported and ends the pass; what comes after is not tried', async () => {
  const actions: readonly Action[] = [
    { kind: 'sandbox-stop', id: sandboxId('s0'), reason: 'r' },
    { kind: 'container-remove', id: id('c-id'), name: 'c', reason: 'r' },
    { kind: 'sandbox-remove', id: sandboxId('s0'), reason: 'r' },
  ];
  for (const [call, key] of [
    ['stop-sandbox', 'sandbox-stop/s0'],
    ['remove', 'container-remove/c-id'],
    ['remove-sandbox', 'sandbox-remove/s0'],
  ] as const) {
    const { act, context, reports, events } = actScene(makePod(), { [call]: rejected(new Error('no')) });
    await assert.rejects(act.carryOut(actions, context), /no/);
    assert.equal(reports.at(-1), `failed ${key}: FailedKillPod`);
    assert.deepEqual(events, [], 'the next pass tries again without an event');
  }
  const well = actScene(makePod(), {}, observed([{ id: id('c-id'), name: 'c', logPath: '/l' }]));
  await well.act.carryOut(actions, well.context);
  assert.deepEqual(well.calls, [
    ...['stop-sandbox s0', 'remove-log c-id', 'remove c-id', 'remove-sandbox s0', 'release'],
  ]);
});

test('a runtime that is away is no failure of the pod: it is thrown', async () => {
  const { act, context, reports, events } = actScene(makePod(), {
    run: rejected(new CodedError('unavailable', 'away')),
  });
  await assert.rejects(act.carryOut([makeSandbox, startOf('c')], context), /away/);
  assert.equal(reports.at(-1), 'begun sandbox-create');
  assert.deepEqual(events, []);
});

test('nothing more is done for a pod that must end', async () => {
  const { act, context, calls, ending } = actScene(makePod());
  ending.abort(new Error('gone'));
  await assert.rejects(act.carryOut([makeSandbox, startOf('c')], context), /gone/);
  assert.deepEqual(calls, ['release']);
});

test('a pod is cleaned up in order, and goes on where it failed', async () => {
  const { act, context, calls, reports } = actScene(makePod());
  await act.cleanUp({ uid: context.observation.uid, name: 'p', namespace: 'n' }, context.onStep, context.signal);
  assert.deepEqual(calls, ['remove-volumes', 'remove-cgroup', 'remove-directories', 'remove-logs']);
  const parts = ['volumes', 'cgroup', 'directories', 'logs'];
  assert.deepEqual(
    reports,
    parts.flatMap((what) => [`begun clean-up/${what}`, `done clean-up/${what}`]),
  );
  const busy = actScene(makePod(), { 'remove-volumes': rejected(new Error('busy')) });
  const pod = { uid: busy.context.observation.uid, name: 'p', namespace: 'n' };
  await assert.rejects(busy.act.release(pod, busy.context.onStep, busy.context.signal), /busy/);
  assert.deepEqual(busy.calls, ['remove-volumes']);
  assert.deepEqual(busy.reports, ['begun clean-up/volumes', 'failed clean-up/volumes: FailedKillPod']);
});
