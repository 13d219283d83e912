import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../api/ids.ts';
import { CodedError } from '../base/errors.ts';
import type { Action } from '../model/plan.ts';
import { actScene, makePod } from './act-testing.ts';

const pod = makePod(
  { resources: { requests: { cpu: '7' } } },
  {
    containers: [
      { name: 'c', image: 'i', resources: { requests: { cpu: '7' } } },
      { name: 'd', image: 'i', resources: { requests: { cpu: '9' } } },
    ],
  },
);
const resize = (memoryLimit?: number): Action => ({
  kind: 'pod-resize',
  reason: 'why',
  containers: [
    { name: 'c', id: containerId('c0'), grows: false, ...(memoryLimit === undefined ? {} : { memoryLimit }) },
    { name: 'd', id: containerId('d0'), grows: true },
  ],
});
const work = (calls: readonly string[]) => calls.filter((call) => call !== 'release');

test('the pod grows before its containers and shrinks after them, between two notes on disk', async () => {
  const { act, context, calls, reports } = actScene(pod);
  const outcomes = await act.carryOut([resize()], context);
  assert.deepEqual(outcomes, [{ kind: 'resize', problem: undefined, tookMs: 0 }]);
  assert.deepEqual(work(calls), [
    'begin c d',
    'update-sandbox s0',
    'grow',
    'update c0 7',
    'update d0 9',
    'shrink',
    'done c d',
  ]);
  assert.deepEqual(reports, ['begun pod-resize', 'done pod-resize']);
});

test('memory is not limited to less than is used, and nothing is changed then', async () => {
  const { act, context, calls } = actScene(pod);
  const [outcome] = await act.carryOut([resize(100)], context);
  assert.ok(outcome?.kind === 'resize');
  assert.equal(
    outcome.problem,
    'cannot decrease memory limits: attempting to set container "c" memory limit (100) below current usage (100)',
  );
  assert.deepEqual(work(calls), ['usage c0']);
  const enough = actScene(pod);
  await enough.act.carryOut([resize(101)], enough.context);
  assert.equal(work(enough.calls).at(-1), 'done c d');
});

test('a runtime without the call for sandboxes is no obstacle; one that refuses is', async () => {
  const unknown = () => Promise.reject(new CodedError('unsupported', 'UpdatePodSandboxResources: not implemented yet'));
  const missing = actScene(pod, { 'update-sandbox': unknown });
  assert.deepEqual(await missing.act.carryOut([resize()], missing.context), [
    { kind: 'resize', problem: undefined, tookMs: 0 },
  ]);
  const refusing = actScene(pod, { 'update-sandbox': () => Promise.reject(new CodedError('invalid', 'no')) });
  assert.deepEqual(await refusing.act.carryOut([resize()], refusing.context), [
    { kind: 'resize', problem: 'no', tookMs: 0 },
  ]);
  assert.ok(!refusing.calls.includes('grow'));
});

test('what failed is told, and the rest of the plan goes on', async () => {
  const { act, context, calls, reports, events } = actScene(pod, {
    update: () => Promise.reject(new CodedError('internal', 'broken')),
  });
  const start: Action = { kind: 'container-start', name: 'c', role: 'regular', attempt: 0, reason: 'why' };
  const [outcome] = await act.carryOut([resize(), start], context);
  assert.deepEqual(outcome, { kind: 'resize', problem: 'broken', tookMs: 0 });
  assert.ok(!calls.includes('shrink') && !calls.includes('done c d'), 'what is in force stays unknown');
  assert.ok(calls.includes('start c1'));
  assert.ok(reports.includes('failed pod-resize: ResizeError'));
  assert.deepEqual(
    events.filter(({ reason }) => reason.startsWith('Resize')),
    [],
    'the event is about the state of the resize, not about each try',
  );
});

test('a runtime that does not answer is an interruption', async () => {
  const { act, context } = actScene(pod, { update: () => Promise.reject(new CodedError('unavailable', 'gone')) });
  await assert.rejects(act.carryOut([resize()], context), /gone/);
});
