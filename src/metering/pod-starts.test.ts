import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { emptyObservation, type Observation } from '../model/observation.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { createPodStarts } from './pod-starts.ts';

const NAME = 'kubelet_ts_pod_start_step_duration_seconds';
const uid = podUid('u');

function setUp() {
  const metrics = createMetrics({ version: '1.36.4', showHiddenFor: '' });
  const clock = { now: Date.parse('2026-11-15T10:00:01Z') };
  const starts = createPodStarts(metrics, () => clock.now);
  /** Step to seconds, of one pod. */
  const shown = () =>
    Object.fromEntries(
      metrics
        .render()
        .split('\n')
        .flatMap((line) => {
          const [, step, value] = new RegExp(`^${NAME}_sum\\{step="(\\w+)"\\} (.*)$`).exec(line) ?? [];
          return step === undefined ? [] : [[step, Number(value)]];
        }),
    );
  return { clock, starts, shown };
}

const pod: Pod = {
  metadata: {
    name: 'p',
    namespace: 'n',
    uid,
    creationTimestamp: '2026-11-15T10:00:00Z',
    annotations: { 'kubernetes.io/config.seen': '2026-11-15T10:00:00.500000000Z' },
  },
  spec: { containers: [] },
};
const empty = emptyObservation(uid, 'p', 'n', 0);
const view = (observation: Observation = empty) => ({ kind: 'view' as const, view: { uid, pod, observation } });
const status = (ready: boolean, final = false) => ({
  uid,
  status: { conditions: [{ type: 'Ready', status: ready ? ('True' as const) : ('False' as const) }] },
  final,
});

test('every step of a start is counted when the pod is ready, once', () => {
  const { clock, starts, shown } = setUp();
  starts.follow(view());
  starts.follow(view());
  for (const [step, ms] of [
    ['volumes', 10],
    ['sandbox', 100],
    ['pull', 2000],
    ['create', 20],
    ['start', 30],
    ['create', 20],
    ['start', 30],
  ] as const)
    starts.spent(uid, step, ms);
  starts.statusChanged(status(false));
  assert.deepEqual(shown(), {});
  clock.now += 3000;
  const expected = {
    seen: 0.5,
    admitted: 0.5,
    volumes: 0.01,
    sandbox: 0.1,
    pull: 2,
    create: 0.04,
    start: 0.06,
    ready: 3,
  };
  for (let times = 0; times < 2; times += 1) {
    starts.statusChanged(status(true));
    starts.spent(uid, 'start', 1000);
    assert.deepEqual(shown(), expected);
  }
});

test('a pod that ends before it is ready has no such step; one that never starts has none', () => {
  const { starts, shown } = setUp();
  starts.follow(view());
  starts.spent(uid, 'sandbox', 100);
  starts.follow({ kind: 'gone', uid, pod });
  starts.statusChanged(status(true));
  assert.deepEqual(shown(), {});
  starts.follow(view());
  starts.statusChanged(status(false, true));
  assert.deepEqual(shown(), { seen: 0.5, admitted: 0.5 });
});

test('a pod that began under an earlier kubelet is not counted', () => {
  const { starts, shown } = setUp();
  starts.follow(view({ ...empty, sandboxes: [{}] as unknown as Observation['sandboxes'] }));
  starts.spent(uid, 'start', 5);
  starts.statusChanged(status(true));
  assert.deepEqual(shown(), {});
});
