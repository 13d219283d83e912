import { exited, makeContainer, makeSandbox, sidecar } from '../../tests/plan/builders.ts';
import { c, check, init, other, stopped } from '../../tests/plan/plan-cases.ts';

const restartAll = {
  restartPolicy: 'Never' as const,
  initContainers: [init('i1'), sidecar('s')],
  containers: [
    c({
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
    }),
    c({ name: 'd' }),
  ],
};
const crashedAll = [exited('c', 42), makeContainer('d'), makeContainer('s'), exited('i1', 0)];
check([
  {
    name: 'restart all: everything goes, the one that asked for it last',
    spec: restartAll,
    containers: crashedAll,
    actions: [
      'stop d-id (killing; RestartAllContainers; 0 s)',
      'stop s-id (killing; RestartAllContainers; 0 s)',
      'remove d-id',
      'remove s-id',
      'remove i1-id',
      'remove c-id',
    ],
  },
  {
    name: 'restart all: another exit code does not',
    spec: restartAll,
    containers: [exited('c', 41), makeContainer('d'), makeContainer('s'), exited('i1', 0)],
    actions: [],
  },
  {
    name: 'restart all: it waits like any other crash',
    spec: restartAll,
    containers: crashedAll,
    parts: { crashes: new Map([['c', { waitMs: 40_000, since: 5 }]]) },
    actions: [],
  },
  {
    name: 'restart all: one of an older sandbox has had its request',
    spec: restartAll,
    sandboxes: [makeSandbox({ id: other, attempt: 1 }), stopped],
    containers: [exited('c', 42)],
    actions: ['start init i1#0'],
  },
  { name: 'restart all: then the pod begins anew', spec: restartAll, actions: ['start init i1#0'] },
]);
