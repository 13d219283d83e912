import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodStatus } from '../../api/pod-status.ts';
import type { ApiObject } from './api-object.ts';
import { type EntryInput, nextEntry, type PatchWork, planWrite, type StatusEntry } from './status-entry.ts';

const at = (mono: number) => ({ now: 1_000_000 + mono, mono });

function after(...inputs: readonly (readonly [EntryInput, number])[]): StatusEntry {
  let entry: StatusEntry | undefined;
  for (const [input, mono] of inputs) ({ entry } = nextEntry(entry, input, at(mono)));
  assert.ok(entry !== undefined);
  return entry;
}

const running: PodStatus = { phase: 'Running' };
const publish = (status: PodStatus): EntryInput => ({ kind: 'publish', status });
const patchOf = (status: PodStatus, again = false): PatchWork => ({ kind: 'patch', patch: {}, status, again });
const accepted = (status: PodStatus, again = false): EntryInput => ({
  kind: 'accepted',
  patch: patchOf(status, again),
  answer: status,
});
const finish: EntryInput = { kind: 'finish' };
const object = (status: PodStatus | undefined, more: Partial<ApiObject['metadata']> = {}): ApiObject => ({
  metadata: { uid: 'u', name: 'p', namespace: 'n', ...more },
  ...(status === undefined ? {} : { status }),
});
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };

describe('the entry of a pod', () => {
  test('a status that was not sent yet is new since the first of them', () => {
    const entry = after([publish({ phase: 'Pending' }), 10], [publish(running), 50]);
    assert.deepEqual(entry, {
      step: 'published',
      report: {
        status: running,
        delivery: { kind: 'unsent', since: 10 },
        everAccepted: false,
        overwritten: undefined,
      },
    });
  });

  test('an accepted status counts from when it was new; one that came meanwhile is new from then on', () => {
    const first = after([publish(running), 10]);
    assert.deepEqual(nextEntry(first, accepted(running), at(40)).effects, [{ kind: 'synced', ms: 30 }]);
    const newer = after([publish(running), 10], [publish({ phase: 'Failed' }), 20], [accepted(running), 40]);
    assert.ok(newer.step === 'published');
    assert.deepEqual(newer.report.delivery, { kind: 'unsent', since: 40 });
  });

  test('the second overwriting in a row is reported, once', () => {
    let entry = after([publish(running), 0], [accepted(running), 1]);
    const reported: number[] = [];
    for (let times = 1; times <= 3; times += 1) {
      const next = nextEntry(entry, accepted(running, true), at(times * 1000));
      if (next.effects.some(({ kind }) => kind === 'report-overwriting')) reported.push(times);
      entry = next.entry;
    }
    assert.deepEqual(reported, [2]);
  });

  test('a finished pod that is published again is one that begins again; a deleted one stays deleted', () => {
    assert.equal(after([publish(running), 0], [finish, 1], [publish(running), 2]).step, 'published');
    const deleted = after([finish, 0], [{ kind: 'deleted', objectUid: 'u' }, 1], [publish(running), 2], [finish, 3]);
    assert.deepEqual(deleted, { step: 'deleted', objectUid: 'u' });
  });
});

describe('what is written next', () => {
  const next = (entry: StatusEntry, known: ApiObject | undefined, mono = 100) => planWrite(entry, known, at(mono)).next;

  test('nothing without an object; a finished pod is forgotten then', () => {
    assert.deepEqual(next(after([publish(running), 0]), undefined), { kind: 'none' });
    assert.deepEqual(next(after([publish(running), 0], [finish, 1]), undefined), { kind: 'forget' });
    const deleted = after([{ kind: 'deleted', objectUid: 'u' }, 0]);
    assert.deepEqual(next(deleted, undefined), { kind: 'forget' });
    assert.deepEqual(next(deleted, object(running, going)), { kind: 'none' });
  });

  test('a patch at once, and the first Pending 30 ms after it was new', () => {
    const write = next(after([publish(running), 100]), object(undefined));
    assert.deepEqual(write, {
      kind: 'write',
      work: { kind: 'patch', patch: { phase: 'Running' }, status: running, again: false },
      notBefore: 0,
    });
    const pending = next(after([publish({ phase: 'Pending' }), 90]), object(undefined));
    assert.ok(pending.kind === 'write');
    assert.equal(pending.notBefore, at(90).now + 30);
    const later = after([publish(running), 0], [accepted(running), 1], [publish({ phase: 'Pending' }), 90]);
    const second = next(later, object(running));
    assert.ok(second.kind === 'write');
    assert.equal(second.notBefore, 0);
  });

  test('no patch where the object has the status: then it is new no longer', () => {
    const { entry, next: write } = planWrite(after([publish(running), 0]), object(running), at(10));
    assert.deepEqual(write, { kind: 'none' });
    assert.ok(entry.step === 'published');
    assert.deepEqual(entry.report.delivery, { kind: 'present' });
  });

  test('what was accepted is written again when another client overwrote it, later each time', () => {
    const once = after([publish(running), 0], [accepted(running), 1]);
    const overwritten = object({ phase: 'Unknown' });
    assert.deepEqual(next(once, object(running)), { kind: 'none' });
    const first = next(once, overwritten);
    assert.ok(first.kind === 'write' && first.work.kind === 'patch');
    assert.deepEqual([first.work.again, first.notBefore], [true, 0]);
    const twice = next(nextEntry(once, accepted(running, true), at(50)).entry, overwritten);
    assert.ok(twice.kind === 'write');
    assert.equal(twice.notBefore, at(50).now + 1000);
  });

  test('the deletion follows the last status, of a pod that is being deleted and is no mirror', () => {
    const done = after([publish(running), 0], [accepted(running), 1], [finish, 2]);
    assert.equal(next(done, object({}, going)).kind, 'write');
    assert.deepEqual(next(done, object(running, going)), { kind: 'write', work: { kind: 'delete' }, notBefore: 0 });
    assert.deepEqual(next(done, object(running)), { kind: 'none' });
    const annotations = { 'kubernetes.io/config.mirror': 's' };
    assert.deepEqual(next(done, object(running, { ...going, annotations })), { kind: 'none' });
    assert.deepEqual(next(after([publish(running), 0]), object(running, going)), { kind: 'none' });
  });
});
