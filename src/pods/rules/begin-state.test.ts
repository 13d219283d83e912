import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import { type BeginInput, type BeginVerdict, judgeBegin } from './begin-state.ts';

const pod = (metadata: object = {}, more: object = {}): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u', ...metadata },
  spec: { containers: [], terminationGracePeriodSeconds: 7 },
  ...more,
});
const found = (alive: boolean) => ({ uid: podUid('u'), name: 'p', namespace: 'n', alive });
const rejected = { phase: 'Failed', reason: 'OutOfcpu', message: 'm', rejected: true } as const;
const evicted = { phase: 'Failed', reason: 'Evicted', message: 'm' } as const;
const deleting = pod({ deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 });
const failed = pod({}, { status: { phase: 'Failed' } });
const fromFile = pod({ annotations: { 'kubernetes.io/config.source': 'file' } }, { status: { phase: 'Failed' } });

const terminated = (given: Pod, end: typeof rejected | undefined, deleted: boolean): BeginVerdict => ({
  kind: 'begin',
  state: { step: 'terminated', pod: given, end, deleted },
});
const terminating = (given: Pod, end: typeof evicted | undefined, graceSeconds: number): BeginVerdict => ({
  kind: 'begin',
  state: { step: 'terminating', pod: given, since: 5, graceSeconds, end, deleted: false },
});

const cases: readonly [string, Partial<BeginInput>, BeginVerdict][] = [
  ['a new pod is admitted', {}, { kind: 'admit' }],
  ['one that left dead containers is admitted', { found: found(false) }, { kind: 'admit' }],
  ['one that runs goes on', { found: found(true) }, { kind: 'resume' }],
  ['one that is being deleted and never ran is over', { pod: deleting }, terminated(deleting, undefined, true)],
  ['one that is being deleted is stopped', { pod: deleting, found: found(true) }, terminating(deleting, undefined, 3)],
  ['one that has ended is not started', { pod: failed }, terminated(failed, undefined, false)],
  ['the status of a static pod does not count', { pod: fromFile }, { kind: 'admit' }],
  ['one that was rejected stays so', { ending: { end: rejected } }, terminated(pod(), rejected, false)],
  ['one that was evicted is stopped', { ending: { end: evicted }, found: found(true) }, terminating(pod(), evicted, 7)],
  ['one that finished is not started', { ending: { end: undefined } }, terminating(pod(), undefined, 7)],
];
for (const [name, change, verdict] of cases) {
  test(`a pod begins: ${name}`, () => {
    assert.deepEqual(judgeBegin({ pod: pod(), found: undefined, ending: undefined, now: 5, ...change }), verdict);
  });
}
