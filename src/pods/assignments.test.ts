import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { createSilentLogger } from '../base/logger.ts';
import type { Assigned } from '../model/assignment.ts';
import type { PodEvent } from '../model/event.ts';
import { createAssignments } from './assignments.ts';

const never = new AbortController().signal;
const pod = (uid: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { uid, name: uid, namespace: 'default' },
  spec: { containers: [] },
});

function ground() {
  const answers = new Map<string, PromiseWithResolvers<Assigned>>();
  const released: string[] = [];
  const events: PodEvent[] = [];
  let reconciles = 0;
  const assignments = createAssignments({
    log: createSilentLogger(),
    record: (event) => events.push(event),
    assigning: {
      concerns: ({ metadata }) => metadata.uid !== 'plain',
      assign: ({ metadata }) => {
        const answer = Promise.withResolvers<Assigned>();
        answers.set(metadata.uid, answer);
        return answer.promise;
      },
      release: (uid) => released.push(uid),
    },
    onAnswer: () => {
      reconciles += 1;
    },
  });
  const answer = async (uid: string, assigned: Assigned): Promise<void> => {
    answers.get(uid)?.resolve(assigned);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const names = () => assignments.underWay().map(({ metadata }) => metadata.uid);
  return { assignments, answer, released, events, names, reconciles: () => reconciles };
}

const DONE: Assigned = { kind: 'done' };
const WAITING: Assigned = { kind: 'waiting', reason: 'Late', message: 'not yet' };
const REFUSED: Assigned = { kind: 'refused', reason: 'No', message: 'none left' };

test('a pod that needs nothing is done at once, another when its answer is there', async () => {
  const { assignments, answer, names, reconciles } = ground();
  assert.deepEqual(assignments.of(pod('plain'), never), DONE);
  assert.equal(assignments.of(pod('a'), never), undefined);
  assert.deepEqual(names(), ['a']);
  await answer('a', DONE);
  assert.equal(reconciles(), 1);
  assert.deepEqual(assignments.of(pod('a'), never), DONE);
  assert.deepEqual(names(), []);
});

test('a refused pod takes nothing of the node', async () => {
  const { assignments, answer, names } = ground();
  assignments.of(pod('a'), never);
  await answer('a', REFUSED);
  assert.deepEqual(names(), []);
  assert.deepEqual(assignments.of(pod('a'), never), REFUSED);
});

test('a pod that waits is reported once, and is assigned again after a change', async () => {
  const { assignments, answer, events, names, reconciles } = ground();
  assignments.of(pod('a'), never);
  await answer('a', WAITING);
  assert.deepEqual([names(), reconciles()], [[], 0]);
  assignments.changed();
  await answer('a', WAITING);
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['Late'],
  );
  assignments.changed();
  await answer('a', DONE);
  assert.deepEqual(assignments.of(pod('a'), never), DONE);
});

test('what a pod got that does not arrive any more is free again', async () => {
  const { assignments, answer, released } = ground();
  assignments.of(pod('a'), never);
  await answer('a', DONE);
  assignments.keepOnly([pod('b')]);
  assert.deepEqual(released, ['a']);
});
