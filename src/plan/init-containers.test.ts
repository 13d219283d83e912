import { exited, makeContainer, makeSandbox, sidecar } from '../../tests/plan/builders.ts';
import { check, i12, init, other, policy, stopped } from '../../tests/plan/plan-cases.ts';

check([
  { name: 'init: the first starts', spec: i12, actions: ['start init i1#0'] },
  { name: 'init: a running one is waited for', spec: i12, containers: [makeContainer('i1')], actions: [] },
  { name: 'init: the next follows a success', spec: i12, containers: [exited('i1', 0)], actions: ['start init i2#0'] },
  {
    name: 'init: the last success starts the regular ones',
    spec: i12,
    containers: [exited('i2', 0), exited('i1', 0)],
    actions: ['start regular c#0'],
  },
  {
    name: 'init: earlier ones may have been forgotten by the runtime',
    spec: i12,
    containers: [exited('i2', 0)],
    actions: ['start regular c#0'],
  },
  {
    name: 'init: all may be forgotten when a regular container is there',
    spec: i12,
    containers: [exited('c', 1)],
    actions: ['start regular c#1'],
  },
  {
    name: 'init: but not one of an older sandbox',
    spec: i12,
    sandboxes: [makeSandbox({ id: other, attempt: 1 }), stopped],
    containers: [exited('c', 1)],
    actions: ['start init i1#0'],
  },
  { name: 'init: a failure is tried again', spec: i12, containers: [exited('i1', 3)], actions: ['start init i1#1'] },
  {
    name: 'init: a failure ends a pod that runs once',
    spec: { ...i12, ...policy('Never') },
    containers: [exited('i1', 3)],
    actions: [],
    finished: true,
  },
  {
    name: 'init: unless a rule of its own forgives this exit code',
    spec: {
      ...policy('Never'),
      initContainers: [
        init('i1', {
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [3] } }],
        }),
      ],
    },
    containers: [exited('i1', 3)],
    actions: ['start init i1#1'],
  },
  {
    name: 'init: one that was made and never started is made again, without counting',
    spec: i12,
    containers: [makeContainer('i1', { state: 'created' })],
    actions: ['remove i1-id', 'start init i1#0'],
  },
  {
    name: 'init: an unknown state is killed before it is tried again',
    spec: i12,
    containers: [makeContainer('i1', { state: 'unknown' })],
    actions: [
      'stop i1-id (Init container is in "unknown" state, try killing it before restart; Unknown; 30 s)',
      'start init i1#1',
    ],
  },
  {
    name: 'init: an unknown state ends a pod that runs once',
    spec: { ...i12, ...policy('Never') },
    containers: [makeContainer('i1', { state: 'unknown' })],
    actions: ['stop i1-id (Stopping container i1; Unknown; 30 s)'],
  },
]);

const withSide = { initContainers: [sidecar('s')] };
const probed = { initContainers: [sidecar('s', { startupProbe: { exec: {} } }), init('i2')] };
check([
  {
    name: 'sidecar: the next starts once it runs',
    spec: { initContainers: [sidecar('s'), init('i2')] },
    containers: [makeContainer('s')],
    actions: ['start init i2#0'],
  },
  { name: 'sidecar: its startup probe is waited for', spec: probed, containers: [makeContainer('s')], actions: [] },
  {
    name: 'sidecar: also while it has not passed',
    spec: probed,
    containers: [makeContainer('s')],
    parts: { startup: { 's-id': 'unknown' } },
    actions: [],
  },
  {
    name: 'sidecar: its success starts the next',
    spec: probed,
    containers: [makeContainer('s')],
    parts: { startup: { 's-id': 'success' } },
    actions: ['start init i2#0'],
  },
  {
    name: 'sidecar: a failed startup probe restarts it',
    spec: probed,
    containers: [makeContainer('s')],
    parts: { startup: { 's-id': 'failure' } },
    actions: ['stop s-id (Init container s failed startup probe; StartupProbe; 30 s)', 'start sidecar s#1'],
  },
  {
    name: 'sidecar: it is kept running beside the regular ones, whatever its exit code and the pod’s policy',
    spec: { ...withSide, ...policy('Never') },
    containers: [makeContainer('c'), exited('s', 0)],
    actions: ['start sidecar s#1'],
  },
  {
    name: 'sidecar: also when the runtime has forgotten it',
    spec: withSide,
    containers: [makeContainer('c')],
    actions: ['start sidecar s#0'],
  },
  {
    name: 'sidecar: it comes back while a later init container runs',
    spec: { initContainers: [sidecar('s'), init('i2')] },
    containers: [makeContainer('i2'), exited('s', 1)],
    actions: ['start sidecar s#1'],
  },
  {
    name: 'sidecar: a failed liveness probe restarts it, with the probe’s own grace',
    spec: { initContainers: [sidecar('s', { livenessProbe: { terminationGracePeriodSeconds: 3 } })] },
    containers: [makeContainer('c'), makeContainer('s')],
    parts: { liveness: { 's-id': 'failure' } },
    actions: ['stop s-id (Init container s failed liveness probe; LivenessProbe; 3 s)', 'start sidecar s#1'],
  },
  {
    name: 'sidecar: a new definition restarts it',
    spec: withSide,
    containers: [makeContainer('c'), makeContainer('s')],
    parts: { hashes: new Map([['s', 'h2']]) },
    actions: ['stop s-id (Init container s definition changed; ; 30 s)', 'start sidecar s#1'],
  },
  {
    name: 'sidecar: they stop last and in reverse order when the regular ones are done',
    spec: { initContainers: [sidecar('s1'), init('i'), sidecar('s2')], ...policy('Never') },
    containers: [exited('c', 0), makeContainer('s2'), exited('i', 0), makeContainer('s1')],
    actions: [
      'stop s2-id (Stopping container s2; Unknown; 30 s)',
      'stop s1-id (Stopping container s1; Unknown; 30 s) after s2-id',
    ],
  },
  {
    name: 'sidecar: one that ended then is not brought back',
    spec: { ...withSide, ...policy('Never') },
    containers: [exited('c', 1), exited('s', 1)],
    actions: [],
    finished: true,
  },
  {
    name: 'sidecar: a failed init container stops them too',
    spec: { initContainers: [sidecar('s'), init('i')], ...policy('Never') },
    containers: [exited('i', 1), makeContainer('s')],
    actions: ['stop s-id (Stopping container s; Unknown; 30 s)'],
  },
]);
