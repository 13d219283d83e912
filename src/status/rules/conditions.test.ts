import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exited, makeContainer, makePod, makeSandbox, NOW, observe, sidecar } from '../../../tests/plan/builders.ts';
import { conditionOf, conditionText, statusInput } from '../../../tests/plan/status-builders.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import type { PodStatus } from '../../api/pod-status.ts';
import { formatTimestamp } from '../../api/timestamp.ts';
import type { ObservedContainer } from '../../model/observation.ts';
import { computePodStatus } from './compute-status.ts';
import { settleConditions } from './conditions.ts';
import type { StatusInput } from './status-input.ts';

interface Case {
  readonly name: string;
  readonly spec?: Partial<PodSpec>;
  readonly containers?: readonly ObservedContainer[];
  readonly more?: Partial<StatusInput>;
  readonly published?: PodStatus;
  readonly expect: Readonly<Record<string, string>>;
}

const DEFERRED = { reason: 'Deferred', message: 'full', generation: 1, since: 0 } as const;
const two = {
  containers: [
    { name: 'b', image: 'i' },
    { name: 'a', image: 'i' },
  ],
};
const inits = { initContainers: [{ name: 'i', image: 'i' }, sidecar('s')] };
const gated = { readinessGates: [{ conditionType: 'example.com/a' }, { conditionType: 'b' }] };
const notReady = (names: string) => `False | ContainersNotReady | containers with unready status: [${names}]`;

const cases: readonly Case[] = [
  {
    name: 'a resize that is pending is reported for as long as the pod runs',
    containers: [makeContainer('c')],
    more: { resize: { pending: DEFERRED } },
    expect: { PodResizePending: 'True | Deferred | full', Ready: 'True' },
  },
  {
    name: 'one that no one asked for is not',
    containers: [makeContainer('c')],
    published: { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Deferred' }] },
    expect: { PodResizePending: 'missing' },
  },
  {
    name: 'nor in the last word about a pod that was deleted',
    containers: [exited('c', 0)],
    more: { resize: { pending: DEFERRED }, step: 'terminated' },
    expect: { PodResizePending: 'missing' },
  },
  {
    name: 'an ended pod waits for no resize',
    spec: { restartPolicy: 'Never' },
    containers: [exited('c', 0)],
    more: { resize: { pending: DEFERRED } },
    expect: { PodResizePending: 'missing' },
  },
  {
    name: 'containers that are not ready are named in their order',
    spec: two,
    containers: [makeContainer('a')],
    expect: { ContainersReady: notReady('b'), Ready: notReady('b'), Initialized: 'True', PodScheduled: 'True' },
  },
  { name: 'both missing', spec: two, expect: { ContainersReady: notReady('b a') } },
  {
    name: 'all ready',
    containers: [makeContainer('c')],
    expect: { Ready: 'True', ContainersReady: 'True', PodReadyToStartContainers: 'True' },
  },
  {
    name: 'init containers that are not done are named; sidecars must be ready too',
    spec: inits,
    containers: [makeContainer('i')],
    expect: {
      Initialized: 'False | ContainersNotInitialized | containers with incomplete status: [i s]',
      Ready: notReady('s c'),
    },
  },
  {
    name: 'a sidecar has only to have started',
    spec: inits,
    containers: [makeContainer('s'), exited('i', 0)],
    expect: { Initialized: 'True', Ready: notReady('c') },
  },
  {
    name: 'a sidecar that restarts does not take initialization back',
    spec: inits,
    containers: [makeContainer('c'), exited('s', 1), exited('i', 0)],
    expect: { Initialized: 'True', Ready: notReady('s') },
  },
  {
    name: 'nor does a new sandbox',
    spec: inits,
    more: { previous: { conditions: [{ type: 'Initialized', status: 'True' }] } },
    expect: { Initialized: 'True' },
  },
  {
    name: 'a pod that succeeded',
    spec: { ...inits, restartPolicy: 'Never' },
    containers: [exited('c', 0), exited('s', 0), exited('i', 0)],
    expect: {
      Initialized: 'True | PodCompleted',
      Ready: 'False | PodCompleted',
      ContainersReady: 'False | PodCompleted',
    },
  },
  {
    name: 'a pod whose initialization failed',
    spec: { ...inits, restartPolicy: 'Never' },
    containers: [exited('i', 1)],
    expect: {
      Initialized: 'False | ContainersNotInitialized | containers with incomplete status: [i s]',
      Ready: 'False | PodFailed',
    },
  },
  {
    name: 'readiness gates no one has spoken about',
    spec: gated,
    containers: [makeContainer('c')],
    expect: {
      ContainersReady: 'True',
      Ready:
        'False | ReadinessGatesNotReady | corresponding condition of pod readiness gate "example.com/a" does not exist., ' +
        'corresponding condition of pod readiness gate "b" does not exist.',
    },
  },
  {
    name: 'a readiness gate that says no',
    spec: gated,
    containers: [makeContainer('c')],
    published: {
      conditions: [
        { type: 'example.com/a', status: 'True' },
        { type: 'b', status: 'Unknown' },
      ],
    },
    expect: {
      Ready: 'False | ReadinessGatesNotReady | the status of pod readiness gate "b" is not "True", but Unknown',
      'example.com/a': 'True',
    },
  },
  {
    name: 'all gates open',
    spec: gated,
    containers: [makeContainer('c')],
    published: {
      conditions: [
        { type: 'example.com/a', status: 'True' },
        { type: 'b', status: 'True' },
      ],
    },
    expect: { Ready: 'True' },
  },
  {
    name: 'a readiness gate can’t be opened by a condition of our own',
    spec: { readinessGates: [{ conditionType: 'Initialized' }] },
    containers: [makeContainer('c')],
    published: { conditions: [{ type: 'Initialized', status: 'True' }] },
    expect: {
      Ready:
        'False | ReadinessGatesNotReady | corresponding condition of pod readiness gate "Initialized" does not exist.',
    },
  },
  {
    name: 'the kubelet takes a pod away',
    containers: [makeContainer('c')],
    more: {
      step: 'terminating',
      ended: {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'low on memory',
        disruption: { reason: 'TerminationByKubelet', message: 'low on memory' },
      },
    },
    expect: { DisruptionTarget: 'True | TerminationByKubelet | low on memory', Ready: 'False | PodFailed' },
  },
  {
    name: 'a disruption that was published stays',
    containers: [makeContainer('c')],
    more: { previous: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'r' }] } },
    expect: { DisruptionTarget: 'True | r' },
  },
];

for (const { name, spec, containers = [], more, published, expect } of cases) {
  test(name, () => {
    const pod: Pod = { ...makePod(spec), ...(published === undefined ? {} : { status: published }) };
    const status = computePodStatus(statusInput(pod, { observation: observe(containers), ...more }));
    for (const [type, text] of Object.entries(expect)) assert.equal(conditionText(status, type), text, type);
  });
}

test('sandboxes that will not do', () => {
  for (const sandboxes of [[], [makeSandbox({ ready: false })], [makeSandbox({ ips: [] })]]) {
    const status = computePodStatus(statusInput(makePod(), { observation: observe([], sandboxes) }));
    assert.equal(conditionText(status, 'PodReadyToStartContainers'), 'False');
  }
});

test('the order is the reference’s, with what others say before it', () => {
  const pod = {
    ...makePod(),
    status: {
      conditions: [
        { type: 'Mine', status: 'True' as const },
        { type: 'Ready', status: 'True' as const },
      ],
    },
  };
  const status = computePodStatus(statusInput(pod));
  assert.deepEqual(
    status.conditions?.map(({ type }) => type),
    ['Mine', 'PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'],
  );
});

test('a condition moves its time only when its status changes', () => {
  const before = [
    { type: 'Ready', status: 'False' as const, reason: 'old', lastTransitionTime: '2020-01-01T00:00:00Z' },
  ];
  const settle = (status: 'True' | 'False') =>
    settleConditions({
      verdicts: [{ type: 'Ready', status, reason: 'new' }],
      previous: before,
      generation: 3,
      now: 'now',
    });
  assert.deepEqual(settle('False'), [
    {
      type: 'Ready',
      observedGeneration: 3,
      status: 'False',
      lastProbeTime: null,
      lastTransitionTime: '2020-01-01T00:00:00Z',
      reason: 'new',
    },
  ]);
  assert.equal(settle('True')[0]?.lastTransitionTime, 'now');
});

test('new conditions carry the present time and no generation where the pod has none', () => {
  const status = computePodStatus(statusInput(makePod()));
  assert.equal(conditionOf(status, 'Ready')?.lastTransitionTime, formatTimestamp(NOW));
  assert.equal(conditionOf(status, 'Ready')?.observedGeneration, undefined);
  assert.equal('observedGeneration' in status, false);
});

test('a gate that is off leaves its condition out', () => {
  const input = statusInput(makePod());
  const status = computePodStatus({
    ...input,
    gates: { ...input.gates, podReadyToStartContainers: false, inPlacePodLevelResources: false },
  });
  assert.equal(conditionOf(status, 'PodReadyToStartContainers'), undefined);
  assert.equal('resources' in status, false);
});
