import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exited, makeContainer, makePod, makeSandbox, NOW, observe, sidecar } from '../../../tests/plan/builders.ts';
import { conditionText, stateText, statusInput, statusOf } from '../../../tests/plan/status-builders.ts';
import { containerId } from '../../api/ids.ts';
import type { PodSpec } from '../../api/pod.ts';
import type { ContainerStatus, PodStatus } from '../../api/pod-status.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import type { ObservedContainer } from '../../model/observation.ts';
import { computePodStatus } from './compute-status.ts';
import type { StatusInput } from './status-input.ts';

const at = formatTimestamp;

function compute(
  spec: Partial<PodSpec>,
  containers: readonly ObservedContainer[],
  more: Partial<StatusInput> = {},
): PodStatus {
  return computePodStatus(statusInput(makePod(spec), { observation: observe(containers), ...more }));
}

function before(more: Partial<ContainerStatus>): PodStatus {
  const status = {
    name: 'c',
    state: {},
    lastState: {},
    ready: false,
    restartCount: 0,
    image: 'i',
    imageID: '',
    ...more,
  };
  return { containerStatuses: [status] };
}

const wasRunning = before({
  state: { running: { startedAt: at(NOW) } },
  containerID: 'containerd://c-id',
  restartCount: 2,
});

interface Case {
  readonly name: string;
  readonly spec?: Partial<PodSpec>;
  readonly containers?: readonly ObservedContainer[];
  readonly more?: Partial<StatusInput>;
  readonly of?: string;
  /** State, last state, restart count. */
  readonly expect: readonly [string, string, number];
}

const held = new Map([['c', { reason: 'ErrImagePull', message: 'm' }]]);
const inits = { initContainers: [{ name: 'i', image: 'i' }, sidecar('s')] };

const cases: readonly Case[] = [
  { name: 'not made yet', expect: ['waiting ContainerCreating', '', 0] },
  { name: 'not made yet, with init containers', spec: inits, expect: ['waiting PodInitializing', '', 0] },
  { name: 'made', containers: [makeContainer('c', { state: 'created' })], expect: ['waiting', '', 0] },
  { name: 'running', containers: [makeContainer('c')], expect: ['running', '', 0] },
  { name: 'ended', containers: [exited('c', 0)], expect: ['terminated 0 Completed', '', 0] },
  {
    name: 'running again',
    containers: [makeContainer('c', { restartCount: 3 }), exited('c', 5, { id: containerId('old'), reason: 'Error' })],
    expect: ['running', 'terminated 5 Error', 3],
  },
  {
    name: 'only the two newest count',
    containers: [
      makeContainer('c', { restartCount: 3 }),
      exited('c', 5, { id: containerId('old'), reason: 'Error' }),
      exited('c', 6, { id: containerId('older'), reason: 'Error' }),
    ],
    expect: ['running', 'terminated 5 Error', 3],
  },
  { name: 'held up before it was made', more: { waiting: held }, expect: ['waiting ErrImagePull', '', 0] },
  {
    name: 'held up after it ended',
    containers: [exited('c', 0)],
    more: { waiting: held },
    expect: ['waiting ErrImagePull', 'terminated 0 Completed', 0],
  },
  {
    name: 'a reason that is out of date: it runs',
    containers: [makeContainer('c')],
    more: { waiting: held },
    expect: ['running', '', 0],
  },
  {
    name: 'a reason that is out of date: it will not run again',
    spec: { restartPolicy: 'Never' },
    containers: [exited('c', 1, { reason: 'Error' })],
    more: { waiting: held },
    expect: ['terminated 1 Error', '', 0],
  },
  {
    name: 'no one waits in a pod that ends',
    more: { waiting: held, step: 'terminating' },
    expect: ['waiting ContainerCreating', '', 0],
  },
  {
    name: 'stopped to start with a new image, though its policy starts nothing again',
    spec: { restartPolicy: 'Never' },
    containers: [exited('c', 0)],
    more: { starting: new Set(['c']) },
    expect: ['waiting ContainerCreating', 'terminated 0 Completed', 0],
  },
  {
    name: 'ended by itself beside one that starts',
    spec: { restartPolicy: 'Never' },
    containers: [exited('c', 0)],
    more: { starting: new Set(['d']) },
    expect: ['terminated 0 Completed', '', 0],
  },
  {
    name: 'starting again after a crash',
    containers: [exited('c', 1, { reason: 'Error' })],
    more: { starting: new Set(['c']) },
    expect: ['terminated 1 Error', '', 0],
  },
  {
    name: 'lost while it ran',
    more: { previous: wasRunning },
    expect: ['waiting ContainerCreating', 'terminated 137 ContainerStatusUnknown', 3],
  },
  {
    name: 'of unknown state, and it ran',
    containers: [makeContainer('c', { state: 'unknown', restartCount: 2 })],
    more: { previous: wasRunning },
    expect: ['terminated 137 ContainerStatusUnknown', '', 2],
  },
  {
    name: 'of unknown state, and it never ran',
    containers: [makeContainer('c', { state: 'unknown' })],
    expect: ['waiting', '', 0],
  },
  {
    name: 'forgotten after it ended',
    more: { previous: before({ state: { terminated: { exitCode: 4, reason: 'Error' } }, restartCount: 1 }) },
    expect: ['terminated 4 Error', '', 1],
  },
  {
    name: 'the last state outlives the container in the runtime',
    containers: [makeContainer('c', { id: containerId('new'), restartCount: 1 })],
    more: {
      previous: before({ state: { terminated: { exitCode: 4, reason: 'Error' } }, containerID: 'containerd://old' }),
    },
    expect: ['running', 'terminated 4 Error', 1],
  },
  {
    name: 'a count the runtime has forgotten goes on',
    containers: [makeContainer('c', { id: containerId('new') })],
    more: {
      previous: before({
        state: { terminated: { exitCode: 4, reason: 'Error' } },
        containerID: 'containerd://old',
        restartCount: 7,
      }),
    },
    expect: ['running', 'terminated 4 Error', 8],
  },
  {
    name: 'its own end is not its last state',
    containers: [exited('c', 4, { reason: 'Error' })],
    more: {
      step: 'terminating',
      previous: before({
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode: 4, containerID: 'containerd://c-id' } },
      }),
    },
    expect: ['terminated 4 Error', '', 0],
  },
  {
    name: 'init: a forgotten one of an initialized pod',
    spec: inits,
    containers: [makeContainer('c')],
    of: 'i',
    expect: ['terminated 0 Completed', '', 0],
  },
  {
    name: 'init: a forgotten sidecar',
    spec: inits,
    containers: [makeContainer('c')],
    of: 's',
    expect: ['waiting PodInitializing', '', 0],
  },
  {
    name: 'init: one that succeeded is not held up any more',
    spec: inits,
    containers: [exited('i', 0)],
    more: { waiting: new Map([['i', { reason: 'CrashLoopBackOff', message: 'm' }]]) },
    of: 'i',
    expect: ['terminated 0 Completed', '', 0],
  },
];

for (const { name, spec = {}, containers = [], more, of = 'c', expect } of cases) {
  test(name, () => {
    const status = statusOf(compute(spec, containers, more), of);
    assert.deepEqual([stateText(status.state), stateText(status.lastState), status.restartCount], expect);
  });
}

test('a container is shown with all the runtime says of it', () => {
  const spec = {
    containers: [
      {
        name: 'c',
        image: 'wanted',
        resources: { limits: { memory: '1Gi' }, requests: { memory: '1Gi' } },
        volumeMounts: [
          { name: 'rw', mountPath: '/rw' },
          { name: 'ro', mountPath: '/ro', readOnly: true },
          { name: 'all', mountPath: '/all', readOnly: true, recursiveReadOnly: 'IfPossible' as const },
        ],
      },
    ],
  };
  const user = { uid: 1, gid: 2, groups: [2, 3] };
  const status = statusOf(compute(spec, [makeContainer('c', { user, stopSignal: 'SIGUSR1' })]), 'c');
  assert.deepEqual(status, {
    name: 'c',
    state: { running: { startedAt: at(NOW - 30_000) } },
    lastState: {},
    ready: true,
    started: true,
    restartCount: 0,
    image: 'docker.io/library/i:1',
    imageID: 'sha256:1',
    containerID: 'containerd://c-id',
    resources: spec.containers[0]?.resources,
    allocatedResources: { memory: '1Gi' },
    volumeMounts: [
      { name: 'rw', mountPath: '/rw' },
      { name: 'ro', mountPath: '/ro', readOnly: true, recursiveReadOnly: 'Disabled' },
      { name: 'all', mountPath: '/all', readOnly: true, recursiveReadOnly: 'Enabled' },
    ],
    user: { linux: { uid: 1, gid: 2, supplementalGroups: [2, 3] } },
    stopSignal: 'SIGUSR1',
  });
});

test('an ephemeral container has a status, and no say in readiness', () => {
  const status = compute({ ephemeralContainers: [{ name: 'e', image: 'i' }] }, [makeContainer('c'), exited('e', 1)]);
  assert.equal(stateText(statusOf(status, 'e').state), 'terminated 1 Completed');
  assert.equal(statusOf(status, 'e').started, undefined);
  assert.equal(status.phase, 'Running');
  assert.equal(conditionText(status, 'Ready'), 'True');
});

test('regular containers stand in the order of their names, init containers in that of the pod', () => {
  const containers = [
    { name: 'z', image: 'i' },
    { name: 'a', image: 'i' },
  ];
  const status = compute(
    {
      containers,
      initContainers: [
        { name: 'y', image: 'i' },
        { name: 'b', image: 'i' },
      ],
    },
    [],
  );
  assert.deepEqual(
    status.containerStatuses?.map(({ name }) => name),
    ['a', 'z'],
  );
  assert.deepEqual(
    status.initContainerStatuses?.map(({ name }) => name),
    ['y', 'b'],
  );
});

const probed = { containers: [{ name: 'c', image: 'i', readinessProbe: {}, startupProbe: {} }] };
const id = containerId('c-id');
const flags = (status: PodStatus): readonly unknown[] => [statusOf(status, 'c').started, statusOf(status, 'c').ready];

test('started and ready follow the probes', () => {
  const with_ = (startup: 'success' | 'failure' | 'unknown', readiness: 'success' | 'failure' | 'unknown') =>
    flags(
      compute(probed, [makeContainer('c')], {
        probes: { startup: new Map([[id, startup]]), liveness: new Map(), readiness: new Map([[id, readiness]]) },
      }),
    );
  assert.deepEqual(with_('unknown', 'success'), [false, false]);
  assert.deepEqual(with_('failure', 'success'), [false, false]);
  assert.deepEqual(with_('success', 'unknown'), [true, false]);
  assert.deepEqual(with_('success', 'failure'), [true, false]);
  assert.deepEqual(with_('success', 'success'), [true, true]);
});

test('until the probes have spoken after a restart of the kubelet, what was said of this container holds', () => {
  const ready = before({ state: { running: {} }, containerID: 'containerd://c-id', ready: true, started: true });
  assert.deepEqual(flags(compute(probed, [makeContainer('c')], { previous: ready })), [true, true]);
  assert.deepEqual(flags(compute(probed, [makeContainer('c', { id: containerId('new') })], { previous: ready })), [
    false,
    false,
  ]);
  assert.deepEqual(flags(compute(probed, [exited('c', 0)], { previous: ready })), [false, false]);
  const noStartup = { containers: [{ name: 'c', image: 'i', readinessProbe: {} }] };
  const another = makeContainer('c', { id: containerId('new') });
  assert.deepEqual(flags(compute(noStartup, [another], { previous: ready })), [true, false]);
});

test('termination messages share twelve kilobytes, cut between characters', () => {
  const message = 'ä'.repeat(5000);
  const containers = [
    { name: 'c', image: 'i' },
    { name: 'd', image: 'i' },
  ];
  const status = compute({ containers }, [exited('c', 1, { message }), exited('d', 1, { message: 'short' })]);
  const shown = statusOf(status, 'c').state.terminated?.message ?? '';
  assert.equal(shown, 'ä'.repeat(3072));
  assert.equal(statusOf(status, 'd').state.terminated?.message, 'short');
});

test('a message of a waiting container is bounded as well: a registry can say anything', () => {
  const waiting = new Map([['c', { reason: 'ErrImagePull', message: 'x'.repeat(1_000_000) }]]);
  const status = compute({}, [], { waiting });
  assert.equal(statusOf(status, 'c').state.waiting?.message, 'x'.repeat(12_288));
});

const all = {
  restartPolicy: 'Never' as const,
  containers: [
    {
      name: 'c',
      image: 'i',
      restartPolicy: 'Never' as const,
      restartPolicyRules: [
        { action: 'RestartAllContainers' as const, exitCodes: { operator: 'In' as const, values: [42] } },
      ],
    },
    { name: 'd', image: 'i' },
  ],
};

test('when all containers restart the pod says so, keeps running and counts each of them once', () => {
  const started = compute(all, [makeContainer('c'), makeContainer('d')]);
  assert.equal(conditionText(started, 'AllContainersRestarting'), 'False');
  const asked = compute(all, [exited('c', 42), makeContainer('d')], { previous: started });
  assert.equal(
    conditionText(asked, 'AllContainersRestarting'),
    'True | RestartAllContainersStarted | container exited with restart policy rule',
  );
  const removing = compute(all, [exited('c', 42)], { previous: asked });
  assert.equal(stateText(statusOf(removing, 'd').state), 'waiting RestartingAllContainers');
  assert.equal(stateText(statusOf(removing, 'd').lastState), 'terminated 137 RestartingAllContainers');
  const empty = compute(all, [], { previous: removing });
  assert.equal(stateText(statusOf(empty, 'c').state), 'waiting RestartingAllContainers');
  assert.equal(statusOf(empty, 'c').lastState.terminated?.exitCode, 42);
  assert.equal(conditionText(empty, 'AllContainersRestarting'), 'False');
  assert.deepEqual(
    [asked, removing, empty].map(({ phase }) => phase),
    ['Running', 'Running', 'Running'],
  );
  const fresh = ['c', 'd'].map((name) => makeContainer(name, { id: containerId(`${name}2`), restartCount: 1 }));
  const again = compute(all, fresh, { previous: empty });
  assert.deepEqual(
    again.containerStatuses?.map(({ restartCount }) => restartCount),
    [1, 1],
  );
});

test('a pod that ends without a trace: what was begun has failed, what was not is left', () => {
  const finish = (spec: Partial<PodSpec>, containers: readonly ObservedContainer[]) => {
    const observation = observe(containers, [makeSandbox({ ready: false })]);
    const status = computePodStatus(statusInput(makePod(spec), { step: 'terminated', observation }));
    const states = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map(({ state }) =>
      stateText(state),
    );
    return [status.phase, ...states];
  };
  const lost = 'terminated 137 ContainerStatusUnknown';
  assert.deepEqual(finish({}, []), ['Failed', lost]);
  assert.deepEqual(finish(inits, []), ['Failed', lost, 'waiting PodInitializing', 'waiting PodInitializing']);
  assert.deepEqual(finish({ initContainers: [{ name: 'i', image: 'i' }] }, [exited('i', 0)]), [
    'Failed',
    'terminated 0 Completed',
    lost,
  ]);
  assert.deepEqual(finish({}, [exited('c', 0)]), ['Succeeded', 'terminated 0 Completed']);
});
