import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import { type ClosingPod, type ClosingSnapshot, nextClosingStep } from './closing.ts';
import { drainPeriods, gracePeriods, graceSecondsOf, groupOf, wholeSeconds } from './groups.ts';
import { decodeRecord, decodeState, encodeRecord, encodeState } from './record.ts';

const pod = (priority: number | undefined, terminationGracePeriodSeconds = 30) =>
  ({ metadata: {}, spec: { priority, terminationGracePeriodSeconds, containers: [] } }) as unknown as Pod;

const PERIODS = [
  { priority: 0, seconds: 10 },
  { priority: 1000, seconds: 20 },
  { priority: 2_000_000_000, seconds: 5 },
];

test('the two periods of the node are two groups: other pods, then critical ones', () => {
  assert.deepEqual(gracePeriods({ wholeMs: 30_000, criticalMs: 10_000, byPriority: [] }), [
    { priority: 0, seconds: 20 },
    { priority: 2_000_000_000, seconds: 10 },
  ]);
  assert.deepEqual(gracePeriods({ wholeMs: 0, criticalMs: 0, byPriority: [] }), []);
  assert.deepEqual(gracePeriods({ wholeMs: 0, criticalMs: 0, byPriority: PERIODS.toReversed() }), PERIODS);
  assert.equal(wholeSeconds(PERIODS), 35);
});

test('a pod is in the last group whose priority it reaches, or in the lowest', () => {
  const cases = [
    [undefined, 0],
    [-5, 0],
    [0, 0],
    [999, 0],
    [1000, 1],
    [1_999_999_999, 1],
    [2_000_001_000, 2],
  ] as const;
  for (const [priority, group] of cases) assert.equal(groupOf(pod(priority), PERIODS), group, String(priority));
});

test('a pod has its own grace where that is less than its group has', () => {
  assert.equal(graceSecondsOf(pod(0, 5), { priority: 0, seconds: 10 }), 5);
  assert.equal(graceSecondsOf(pod(0, 120), { priority: 0, seconds: 10 }), 10);
});

test('a drain takes as long as its pods may', () => {
  assert.deepEqual(
    drainPeriods([pod(0, 5), pod(0, 300)]).map(({ seconds }) => seconds),
    [330, 330],
  );
});

const low: ClosingPod = { uid: podUid('low'), pod: pod(0, 5), isOut: false };
const slow: ClosingPod = { uid: podUid('slow'), pod: pod(0, 120), isOut: false };
const critical: ClosingPod = { uid: podUid('critical'), pod: pod(2_000_001_000, 3), isOut: false };
const out = (one: ClosingPod): ClosingPod => ({ ...one, isOut: true });
const snapshot = (more: Partial<ClosingSnapshot>): ClosingSnapshot => ({
  periods: PERIODS,
  group: undefined,
  isRequested: false,
  pods: [low, slow, critical],
  now: 1_000_000,
  ...more,
});

test('groups end one after the other; one without pods takes no time', () => {
  const group = { index: 0, beganAt: 1_000_000 };
  assert.deepEqual(nextClosingStep(snapshot({})), { kind: 'begin', group });
  assert.deepEqual(nextClosingStep(snapshot({ group })), {
    kind: 'end',
    pods: [
      { uid: 'low', graceSeconds: 5 },
      { uid: 'slow', graceSeconds: 10 },
    ],
  });
  const waiting = snapshot({ group, isRequested: true, now: 1_004_000 });
  assert.deepEqual(nextClosingStep(waiting), { kind: 'wait', until: 1_010_000 });
  assert.deepEqual(nextClosingStep({ ...waiting, pods: [out(low), out(slow), critical] }), {
    kind: 'begin',
    group: { index: 2, beganAt: 1_004_000 },
  });
});

test('a group whose time is up is left behind, and after the last it is over', () => {
  const group = { index: 0, beganAt: 1_000_000 };
  const late = snapshot({ group, isRequested: true, now: 1_010_000 });
  assert.equal(nextClosingStep(late).kind, 'begin');
  const last = { index: 2, beganAt: 1_010_000 };
  assert.deepEqual(nextClosingStep({ ...late, group: last, now: 1_012_000 }), { kind: 'wait', until: 1_015_000 });
  assert.deepEqual(nextClosingStep({ ...late, group: last, now: 1_015_000 }), { kind: 'over' });
  assert.deepEqual(nextClosingStep(snapshot({ pods: [] })), { kind: 'over' });
});

test('another kubelet goes on with what is left of the time, and ends no group a second time', () => {
  const group = { index: 0, beganAt: 1_000_000 };
  const resumed = snapshot({ group, now: 1_004_000, pods: [out(low), slow, critical] });
  assert.deepEqual(nextClosingStep(resumed), { kind: 'end', pods: [{ uid: 'slow', graceSeconds: 6 }] });
  assert.deepEqual(nextClosingStep({ ...resumed, now: 1_600_000 }), {
    kind: 'end',
    pods: [{ uid: 'slow', graceSeconds: 0 }],
  });
});

test('the record is read as it was written; anything else is refused', () => {
  const record = {
    cause: 'shutdown',
    bootId: 'b',
    startedAt: 5,
    endedAt: undefined,
    periods: PERIODS,
    group: { index: 1, beganAt: 7 },
  } as const;
  assert.deepEqual(decodeRecord(encodeRecord(record)), { ok: true, value: record });
  for (const text of ['', '[]', '{}', '{"version":2}', encodeRecord(record).replace('shutdown', 'other')])
    assert.equal(decodeRecord(text).ok, false, text);
});

test('the state file is that of the reference', () => {
  const text = encodeState(Date.UTC(2026, 0, 2, 3, 4, 5, 678), undefined);
  assert.equal(text, '{"startTime":"2026-01-02T03:04:05.678Z","endTime":"0001-01-01T00:00:00Z"}');
  assert.deepEqual(decodeState(text), { ok: true, value: { startSeconds: 1_767_323_045, endSeconds: 0 } });
  const theirs = '{"startTime":"2026-01-02T03:04:05.678901234+01:00","endTime":"2026-01-02T03:04:06.678901234+01:00"}';
  assert.deepEqual(decodeState(theirs), {
    ok: true,
    value: { startSeconds: 1_767_319_445, endSeconds: 1_767_319_446 },
  });
});
