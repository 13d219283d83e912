import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../api/ids.ts';
import { emptyObservation } from '../../model/observation.ts';
import type { Plan } from '../../model/plan.ts';
import type { PodView } from '../../model/pod-view.ts';
import { statusView } from './status-view.ts';

const PROBES = { startup: new Map(), liveness: new Map(), readiness: new Map() };
const waiting = (reason: string) => ({ reason, message: '' });

const view = (more: Partial<PodView> = {}): PodView => ({
  uid: podUid('u'),
  pod: { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [] } },
  step: 'syncing',
  observation: emptyObservation(podUid('u'), 'p', 'n', 0),
  plan: undefined,
  explanation: { pod: { uid: 'u', namespace: 'n', name: 'p' }, step: 'syncing', steps: [] },
  memory: new Map(),
  startedAt: 1,
  acknowledgedAt: 2,
  ended: undefined,
  deleted: false,
  ...more,
});

test('the plan says best why a container waits, and which ones are being started', () => {
  const plan = {
    actions: [
      { kind: 'container-start', name: 'b', role: 'regular', attempt: 0, reason: '' },
      { kind: 'container-remove', id: 'x', name: 'c', reason: '' },
    ],
    waiting: new Map([['a', waiting('CrashLoopBackOff')]]),
  } as unknown as Plan;
  const memory = new Map([
    ['a', { waiting: waiting('RunContainerError'), failedHooks: new Set<never>() }],
    ['b', { waiting: waiting('ErrImagePull'), failedHooks: new Set<never>() }],
    ['c', { waiting: undefined, failedHooks: new Set<never>() }],
  ]);
  const made = statusView(view({ plan, memory }), PROBES);
  assert.deepEqual(
    [...made.waiting].map(([name, { reason }]) => [name, reason]),
    [
      ['a', 'CrashLoopBackOff'],
      ['b', 'ErrImagePull'],
    ],
  );
  assert.deepEqual([...made.starting], ['b']);
  assert.equal(made.startedAt, 2);
});

test('a rejection is no end of its own', () => {
  const end = { phase: 'Failed', reason: 'OutOfcpu', message: 'm' } as const;
  const evicted = statusView(view({ ended: end }), PROBES);
  assert.deepEqual([evicted.ended, evicted.rejected], [end, undefined]);
  const rejected = statusView(view({ ended: { ...end, rejected: true } }), PROBES);
  assert.equal(rejected.ended, undefined);
  assert.equal(rejected.rejected?.reason, 'OutOfcpu');
});
