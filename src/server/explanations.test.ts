import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExplainedStep } from '../model/explanation.ts';
import { createExplain, type ExplanationsDeps } from './explanations.ts';

const pulling: ExplainedStep = {
  subject: { kind: 'image', container: 'c', image: 'r/i:1', attempt: 0 },
  reason: 'r',
  state: { kind: 'under-way', since: 0, actor: 'registry' },
  failures: 0,
};

function explainOf(steps: readonly ExplainedStep[], more: object = {}) {
  const pod = { metadata: { namespace: 'n', name: 'a', uid: 'u' } };
  const view = { uid: 'u', pod, step: 'syncing', explanation: { pod: pod.metadata, step: 'syncing', steps } };
  const other = { metadata: { namespace: 'n', name: 'new', uid: 'v' } };
  const statuses = { get: () => ({ containerStatuses: [{ name: 'c', ready: false, state: { running: {} } }] }) };
  const deps = {
    clock: { now: () => 5000 },
    served: { pods: { views: () => [view], desired: () => ({ pods: [pod, other] }) }, statuses },
    downloadsOf: () => Promise.resolve([{ receivedBytes: 1e6, totalBytes: 2e6, startedAt: 4000 }]),
    failedProbes: () => [{ container: 'c', message: 'Readiness probe failed: no', at: 3000 }],
    ...more,
  } as unknown as ExplanationsDeps;
  const explain = createExplain(deps);
  return (name: string) => explain('n', name, new AbortController().signal);
}

test('explanations: the blocking step with how far its download is', async () => {
  const answer = await explainOf([pulling])('a');
  assert.deepEqual(answer?.download, { receivedBytes: 1e6, totalBytes: 2e6, bytesPerSecond: 1e6, secondsLeft: 1 });
  assert.match(
    answer?.summary ?? '',
    /^image "r\/i:1" of container "c": under way for 5s; 1\.0 MB of 2\.0 MB received/,
  );
  const silent = await explainOf([pulling], { downloadsOf: () => Promise.reject(new Error('away')) })('a');
  assert.match(silent?.summary ?? '', /waits for the registry/);
});

test('explanations: a container that runs and is not ready, with the last answer of its probe', async () => {
  const answer = await explainOf([])('a');
  assert.equal(answer?.summary, 'container "c" runs and is not ready: Readiness probe failed: no (2 s ago)');
  assert.deepEqual(answer?.notReady, [{ container: 'c', lastAnswer: 'Readiness probe failed: no', at: 3000 }]);
  const well = await explainOf([], ready())('a');
  assert.equal(well?.summary, 'nothing holds the pod up');
});

function ready() {
  const pod = { metadata: { namespace: 'n', name: 'a', uid: 'u' } };
  const view = { uid: 'u', pod, step: 'syncing', explanation: { pod: pod.metadata, step: 'syncing', steps: [] } };
  return { served: { pods: { views: () => [view], desired: () => undefined }, statuses: { get: () => undefined } } };
}

test('explanations: a pod without a worker says so, and one that no one has is none', async () => {
  const explain = explainOf([]);
  assert.match((await explain('new'))?.summary ?? '', /has not begun with this pod/);
  assert.equal(await explain('other'), undefined);
});
