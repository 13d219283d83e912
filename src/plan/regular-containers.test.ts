import { exited, makeContainer } from '../../tests/plan/builders.ts';
import { c, check, i12, policy, two } from '../../tests/plan/plan-cases.ts';
import { containerId } from '../api/ids.ts';

const unhealthy = { containers: [c({ livenessProbe: {}, startupProbe: { terminationGracePeriodSeconds: 7 } })] };
check([
  {
    name: 'regular: success ends a pod that runs once',
    spec: policy('Never'),
    containers: [exited('c', 0)],
    actions: [],
    finished: true,
  },
  { name: 'regular: failure too', spec: policy('Never'), containers: [exited('c', 1)], actions: [], finished: true },
  {
    name: 'regular: OnFailure and success',
    spec: policy('OnFailure'),
    containers: [exited('c', 0)],
    actions: [],
    finished: true,
  },
  {
    name: 'regular: OnFailure and failure',
    spec: policy('OnFailure'),
    containers: [exited('c', 1)],
    actions: ['start regular c#1'],
  },
  { name: 'regular: Always and success', containers: [exited('c', 0)], actions: ['start regular c#1'] },
  {
    name: 'regular: one that is done does not end the other',
    spec: { ...two, ...policy('Never') },
    containers: [makeContainer('d'), exited('c', 1)],
    actions: [],
  },
  {
    name: 'regular: a container’s own policy counts before the pod’s',
    spec: { ...policy('Never'), containers: [c({ restartPolicy: 'OnFailure' })] },
    containers: [exited('c', 1)],
    actions: ['start regular c#1'],
  },
  {
    name: 'regular: so does its own Never',
    spec: { containers: [c({ restartPolicy: 'Never' }), c({ name: 'd' })] },
    containers: [makeContainer('d'), exited('c', 1)],
    actions: [],
  },
  {
    name: 'regular: a rule that does not match leaves the policy',
    spec: {
      containers: [
        c({
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [1, 2] } }],
        }),
      ],
    },
    containers: [exited('c', 2)],
    actions: [],
    finished: true,
  },
  {
    name: 'regular: a failed liveness probe',
    spec: unhealthy,
    containers: [makeContainer('c')],
    parts: { liveness: { 'c-id': 'failure' } },
    actions: [
      'stop c-id (Container c failed liveness probe, will be restarted; LivenessProbe; 30 s)',
      'start regular c#1',
    ],
  },
  {
    name: 'regular: a failed startup probe, with its own grace',
    spec: unhealthy,
    containers: [makeContainer('c')],
    parts: { startup: { 'c-id': 'failure' } },
    actions: [
      'stop c-id (Container c failed startup probe, will be restarted; StartupProbe; 7 s)',
      'start regular c#1',
    ],
  },
  {
    name: 'regular: a probe that fails stops it for good if it runs once',
    spec: { ...unhealthy, ...policy('Never') },
    containers: [makeContainer('c')],
    parts: { liveness: { 'c-id': 'failure' } },
    actions: ['stop c-id (Container c failed liveness probe; LivenessProbe; 30 s)'],
  },
  {
    name: 'regular: a verdict about an earlier container is none about this one',
    spec: unhealthy,
    containers: [makeContainer('c', { id: containerId('c-new') })],
    parts: { liveness: { 'c-id': 'failure' } },
    actions: [],
  },
  {
    name: 'regular: a new definition restarts it whatever the policy',
    spec: policy('Never'),
    containers: [makeContainer('c')],
    parts: { hashes: new Map([['c', 'h2']]) },
    actions: ['stop c-id (Container c definition changed, will be restarted; ; 30 s)', 'start regular c#1'],
  },
  {
    name: 'regular: one without a hash is left alone',
    containers: [makeContainer('c', { hash: '' })],
    parts: { hashes: new Map([['c', 'h2']]) },
    actions: [],
  },
  {
    name: 'regular: a failed postStart hook',
    containers: [makeContainer('c')],
    parts: { memory: new Map([['c', { waiting: undefined, failedHooks: new Set([containerId('c-id')]) }]]) },
    actions: ['stop c-id (FailedPostStartHook; FailedPostStartHook; 30 s)'],
  },
  {
    name: 'regular: an unknown state',
    containers: [makeContainer('c', { state: 'unknown', restartCount: 4 })],
    actions: [
      'stop c-id (Container is in "unknown" state, try killing it before restart; Unknown; 30 s)',
      'start regular c#5',
    ],
  },
  {
    name: 'regular: made and never started',
    spec: policy('Never'),
    containers: [makeContainer('c', { state: 'created', restartCount: 2 })],
    parts: { restartCounts: new Map([['c', 2]]) },
    actions: ['remove c-id', 'start regular c#2'],
  },
  {
    name: 'regular: the count goes on where the runtime has forgotten',
    parts: { restartCounts: new Map([['c', 7]]) },
    actions: ['start regular c#7'],
  },
  {
    name: 'regular: of two that run the older one goes',
    containers: [makeContainer('c', { id: containerId('new'), restartCount: 1 }), makeContainer('c')],
    actions: ['stop c-id (Stopping container c; Unknown; 30 s)'],
  },
  {
    name: 'regular: one that runs counts before a newer one that ended',
    containers: [exited('c', 1, { id: containerId('new'), restartCount: 1 }), makeContainer('c')],
    actions: [],
  },
]);

const debug = { ephemeralContainers: [{ name: 'e', image: 'i' }] };
check([
  { name: 'ephemeral: started once', spec: debug, containers: [makeContainer('c')], actions: ['start ephemeral e#0'] },
  { name: 'ephemeral: never again', spec: debug, containers: [exited('e', 1), makeContainer('c')], actions: [] },
  {
    name: 'ephemeral: also while the pod is initialized, and before anything else',
    spec: { ...debug, ...i12 },
    actions: ['start ephemeral e#0', 'start init i1#0'],
  },
  {
    name: 'ephemeral: it does not keep the pod alive',
    spec: { ...debug, ...policy('Never') },
    containers: [makeContainer('e'), exited('c', 0)],
    actions: ['stop e-id (Stopping container e; Unknown; 30 s)'],
  },
]);
