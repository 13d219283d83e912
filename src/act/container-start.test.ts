import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { CodedError } from '../base/errors.ts';
import type { Action } from '../model/plan.ts';
import { actScene, id, makePod, observed, settle } from './act-testing.ts';

const start: Action = { kind: 'container-start', name: 'c', role: 'regular', attempt: 2, reason: 'r' };
const hooked = makePod({ lifecycle: { postStart: { exec: { command: ['x'] } } } });

/** The calls after the pod was prepared. */
async function run(pod: Pod, answers: Parameters<typeof actScene>[1] = {}, action: Action = start) {
  const scene = actScene(pod, answers);
  const [outcome] = await scene.act.carryOut([action], scene.context);
  assert.equal(outcome?.kind, 'start');
  const calls = scene.calls.slice(scene.calls.indexOf('volumes') + 1);
  return { ...scene, calls, outcome: outcome?.kind === 'start' ? outcome.outcome : undefined };
}

test('image, request, create, start, link; all in the turn', async () => {
  const { calls, outcome } = await run(makePod());
  assert.deepEqual(outcome, { kind: 'started', id: 'c1' });
  assert.deepEqual(calls, [
    ...['image c', 'sandbox-request', 'request c', 'hold', 'create c in s0', 'start c1', 'link c c1 2', 'release'],
  ]);
});

const FAILURES: readonly (readonly [string, unknown, object, string, string])[] = [
  [
    'image',
    { kind: 'waiting', reason: 'ErrImagePull', message: 'm', retryAt: 7 },
    { kind: 'waiting', reason: 'ErrImagePull', message: 'm', retryAt: 7 },
    'failed image/c: ErrImagePull',
    'Error: ErrImagePull',
  ],
  [
    'request',
    { kind: 'problem', reason: 'CreateContainerConfigError', message: 'no map' },
    { kind: 'waiting', reason: 'CreateContainerConfigError', message: 'no map', retryAt: undefined },
    'failed container-config/c: CreateContainerConfigError',
    'Error: no map',
  ],
  [
    'create',
    new CodedError('internal', 'x', { data: { grpcMessage: 'bad mount' } }),
    { kind: 'waiting', reason: 'CreateContainerError', message: 'bad mount', retryAt: undefined },
    'failed container-create/c: CreateContainerError',
    'Error: bad mount',
  ],
  [
    'start',
    new CodedError('internal', 'no such file'),
    { kind: 'not-run', reason: 'RunContainerError', message: 'no such file', retryAt: undefined },
    'failed container-start/c: RunContainerError',
    'Error: no such file',
  ],
];

for (const [call, answer, expected, report, message] of FAILURES) {
  test(`a start that fails at its ${call} is a value, with one event`, async () => {
    const given = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
    const { outcome, reports, events } = await run(makePod(), { [call]: given });
    assert.deepEqual(outcome, expected);
    assert.equal(reports.at(-1), report);
    assert.equal(events.at(-1)?.reason, 'Failed');
    assert.equal(events.at(-1)?.message, message);
  });
}

test('who has to act is passed on with the failure', async () => {
  const failure = { kind: 'problem', reason: 'CreateContainerConfigError', message: 'no answer', actor: 'api-server' };
  const scene = actScene(makePod(), { request: () => Promise.resolve(failure) });
  const actors: unknown[] = [];
  const onStep: typeof scene.context.onStep = (report) => {
    if ('failure' in report) actors.push(report.failure.actor);
  };
  await scene.act.carryOut([start], { ...scene.context, onStep });
  assert.deepEqual(actors, ['api-server']);
});

test('a hook runs outside of the turn; when it fails the container is stopped at once', async () => {
  const well = await run(hooked);
  assert.deepEqual(well.calls.slice(-4), ['link c c1 2', 'release', 'hook postStart', 'release']);
  assert.equal(well.reports.at(-1), 'done postStart/c');
  const { outcome, calls, events } = await run(hooked, { hook: () => Promise.resolve('exit code 1') });
  assert.deepEqual(outcome, { kind: 'hook-failed', id: 'c1', message: 'exit code 1' });
  assert.deepEqual(calls.slice(-2), ['stop c1 30', 'release']);
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['Created', 'Started', 'FailedPostStartHook', 'Killing'],
  );
});

test('an image that takes longer than a moment gives the turn away, and the pod is published', async () => {
  const pulled = Promise.withResolvers<undefined>();
  const { act, context, clock, calls } = actScene(makePod(), { image: () => pulled.promise });
  const done = act.carryOut([start], context);
  await settle();
  await clock.advance(49);
  assert.ok(!calls.includes('pause'));
  await clock.advance(1);
  await settle();
  assert.deepEqual(calls.slice(-2), ['release', 'pause']);
  pulled.resolve(undefined);
  await done;
  assert.ok(calls.lastIndexOf('hold') > calls.indexOf('pause'), 'the turn is taken again');
  assert.equal(clock.sleepers(), 0);
});

test('images that are mounted as volumes come first, and only those that this container mounts', async () => {
  const volumes = [
    { name: 'a', image: { reference: 'data:1' } },
    { name: 'b', image: { reference: 'other:1' } },
  ];
  const { calls } = await run(makePod({ volumeMounts: [{ name: 'a', mountPath: '/a' }] }, { volumes }));
  assert.deepEqual(calls.slice(0, 2), ['image-volume data:1', 'image c']);
});

test('a pod that must end: a pull and a hook are cut off, a container that was asked for is not started', async () => {
  const abortable = (scene: () => AbortSignal) => () =>
    new Promise((_, reject) => scene().addEventListener('abort', () => reject(scene().reason)));
  for (const call of ['image', 'hook'] as const) {
    const scene: ReturnType<typeof actScene> = actScene(hooked, { [call]: abortable(() => scene.context.wanted) });
    const done = scene.act.carryOut([start], scene.context);
    await settle();
    scene.ending.abort(new Error('gone'));
    await assert.rejects(done, /gone/);
    assert.equal(scene.calls.at(-1), 'release');
    assert.equal(scene.clock.sleepers(), 0);
  }
  const made: ReturnType<typeof actScene> = actScene(makePod(), {
    create: () => {
      made.ending.abort(new Error('gone'));
      return Promise.resolve('c1');
    },
  });
  await assert.rejects(made.act.carryOut([start], made.context), /gone/);
  assert.ok(!made.calls.includes('start c1'));
});

test('when the kubelet stops, a call that is cut off is no failure of the pod', async () => {
  const scene: ReturnType<typeof actScene> = actScene(makePod(), {
    create: () => {
      scene.kubelet.abort(new Error('the kubelet is stopping'));
      return Promise.reject(new Error('cut off'));
    },
  });
  await assert.rejects(scene.act.carryOut([start], scene.context), /cut off/);
  assert.equal(scene.reports.at(-1), 'begun container-create/c');
});

test('an ephemeral container sees the processes of the running container that it names', async () => {
  const ephemeral = [{ name: 'e', image: 'i', targetContainerName: 'c' }];
  const targets: (string | undefined)[] = [];
  const observation = observed([{ id: id('c-id'), name: 'c', state: 'running' }]);
  const scene = actScene(makePod({}, { ephemeralContainers: ephemeral }), {}, observation);
  const { container } = scene.deps.requests;
  const requests = {
    ...scene.deps.requests,
    container: (...[input, signal]: Parameters<typeof container>) => {
      targets.push(input.targetId);
      return container(input, signal);
    },
  };
  const { createAct } = await import('./act.ts');
  await createAct({ ...scene.deps, requests }).carryOut([{ ...start, name: 'e', role: 'ephemeral' }], scene.context);
  assert.deepEqual(targets, ['c-id']);
});
