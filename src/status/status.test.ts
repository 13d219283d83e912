import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exited, makeContainer, makePod, NOW, observe } from '../../tests/plan/builders.ts';
import { GATES, statusOf } from '../../tests/plan/status-builders.ts';
import { type ContainerId, podUid } from '../api/ids.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import type { PodView } from '../model/pod-view.ts';
import type { ProbeVerdict } from '../model/probe-results.ts';
import { createStatus, type PodStatusChange } from './status.ts';

const uid = podUid('uid-1');

function setUp() {
  const clock = createManualClock(NOW);
  const readiness = new Map<ContainerId, ProbeVerdict>();
  const changes: PodStatusChange[] = [];
  const statuses = createStatus({
    clock,
    log: createSilentLogger(),
    supervisor: createTestSupervisor(clock),
    probes: () => ({ startup: new Map(), liveness: new Map(), readiness }),
    nodeIps: () => ['192.0.2.1'],
    runtimeName: () => 'containerd',
    qosClassOf: () => 'Burstable',
    recursiveReadOnly: () => false,
    gates: GATES,
  });
  statuses.subscribe('test', (change) => changes.push(change));
  const publish = (more: Partial<PodView> = {}) => statuses.follow({ kind: 'view', view: view(more) });
  return { statuses, clock, readiness, changes, publish };
}

function view(more: Partial<PodView> = {}): PodView {
  return {
    uid,
    pod: makePod({ restartPolicy: 'Never' }),
    step: 'syncing',
    observation: observe([makeContainer('c')]),
    plan: undefined,
    explanation: { pod: { uid, namespace: 'ns', name: 'x' }, step: 'syncing', steps: [] },
    memory: new Map(),
    startedAt: NOW,
    acknowledgedAt: NOW,
    ended: undefined,
    deleted: false,
    ...more,
  };
}

test('every view becomes a status; listeners are notified of changes alone', async () => {
  const { statuses, changes, clock, publish } = setUp();
  publish();
  await clock.advance(5000);
  publish();
  assert.equal(changes.length, 1);
  assert.deepEqual(statuses.get(uid), changes[0]?.status);
  publish({ observation: observe([exited('c', 0)]) });
  assert.equal(changes.length, 2);
});

test('a verdict of a probe is published with the latest view, unless the pod ends or is gone', () => {
  const { statuses, changes, readiness, publish } = setUp();
  const seen = makeContainer('c');
  const probe = { exec: { command: ['x'] } };
  const base = makePod({ restartPolicy: 'Never' });
  const pod = { ...base, spec: { ...base.spec, containers: [{ name: 'c', readinessProbe: probe }] } };
  const readyNow = () => {
    const status = statuses.get(uid);
    assert.ok(status !== undefined);
    return statusOf(status, 'c').ready;
  };
  publish({ pod, observation: observe([seen]) });
  assert.equal(readyNow(), false);
  readiness.set(seen.id, 'success');
  statuses.probesChanged(uid);
  assert.equal(readyNow(), true);
  assert.equal(changes.length, 2);
  publish({ pod, observation: observe([seen]), step: 'terminating' });
  const before = changes.length;
  readiness.set(seen.id, 'failure');
  statuses.probesChanged(uid);
  assert.equal(changes.length, before);
  statuses.follow({ kind: 'gone', uid, pod });
  statuses.probesChanged(uid);
  assert.deepEqual([statuses.get(uid), changes.length], [undefined, before]);
});

test('a listener that has unsubscribed hears nothing more', () => {
  const { statuses, changes, publish } = setUp();
  const heard: PodStatusChange[] = [];
  const stop = statuses.subscribe('other', (change) => heard.push(change));
  publish();
  stop();
  publish({ observation: observe([exited('c', 0)]) });
  assert.deepEqual([heard.length, changes.length], [1, 2]);
});

test('a listener that failed is called again later, and not after the kubelet stopped', async () => {
  for (const isStopped of [false, true]) {
    const { statuses, clock, publish } = setUp();
    let calls = 0;
    statuses.subscribe('failing', () => {
      calls += 1;
      if (calls === 1) throw new Error('not now');
    });
    publish();
    if (isStopped) await statuses.stop?.();
    await clock.advance(60_000);
    assert.equal(calls, isStopped ? 1 : 2);
    assert.equal(clock.sleepers(), 0);
  }
});
