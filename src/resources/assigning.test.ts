import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Assigned } from '../model/assignment.ts';
import { createAssigning } from './assigning.ts';
import type { HintProvider } from './ports.ts';

const never = new AbortController().signal;
const DONE: Assigned = { kind: 'done' };

const pod = (uid: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { uid, name: uid, namespace: 'default' },
  spec: { initContainers: [{ name: 'init' }], containers: [{ name: 'main' }] },
});

function provider(calls: string[], over: Partial<HintProvider> = {}): HintProvider {
  return {
    name: 'test',
    concerns: () => true,
    hintsFor: () => new Map(),
    hintsForPod: () => new Map(),
    allocate: ({ pod: { metadata }, container }) => {
      calls.push(`allocate ${metadata.uid} ${container.name}`);
      return Promise.resolve(DONE);
    },
    complete: ({ metadata }) => {
      calls.push(`complete ${metadata.uid}`);
      return Promise.resolve(DONE);
    },
    prepare: () => Promise.resolve({}),
    release: (uid) => {
      calls.push(`release ${uid}`);
    },
    ...over,
  };
}

test('init containers are decided on before regular ones, and the slow part comes after all decisions', async () => {
  const calls: string[] = [];
  assert.deepEqual(await createAssigning([provider(calls)]).assign(pod('a'), never), DONE);
  assert.deepEqual(calls, ['allocate a init', 'allocate a main', 'complete a']);
});

test('a pod whose slow part hangs does not delay the decision on another', async () => {
  const calls: string[] = [];
  const hung = new AbortController();
  const complete: HintProvider['complete'] = async ({ metadata }) => {
    if (metadata.uid === 'slow') await setTimeout(60_000, undefined, { signal: hung.signal });
    return DONE;
  };
  const assigning = createAssigning([provider(calls, { complete })]);
  const slow = assigning.assign(pod('slow'), never);
  assert.deepEqual(await assigning.assign(pod('quick'), never), DONE);
  hung.abort();
  await slow;
});

test('a pod that is refused is released, one that waits keeps what it has', async () => {
  for (const [answer, released] of [
    [{ kind: 'refused', reason: 'R', message: 'm' }, true],
    [{ kind: 'waiting', reason: 'R', message: 'm' }, false],
  ] as const) {
    const calls: string[] = [];
    const assigning = createAssigning([provider(calls, { allocate: () => Promise.resolve(answer) })]);
    assert.deepEqual(await assigning.assign(pod('a'), never), answer);
    assert.equal(calls.includes('release a'), released);
  }
});

test('a provider that throws refuses the pod in the words of the reference', async () => {
  const allocate = () => Promise.reject(new Error('boom'));
  const message = 'Allocate failed due to boom, which is unexpected';
  const answer = await createAssigning([provider([], { allocate })]).assign(pod('a'), never);
  assert.deepEqual(answer, { kind: 'refused', reason: 'UnexpectedAdmissionError', message });
});

test('the shares of several providers are merged; the first one that names CPUs wins', async () => {
  const cpus = provider([], { prepare: () => Promise.resolve({ cpus: '2-3', exclusiveCpus: true }) });
  const devices = provider([], {
    prepare: () => Promise.resolve({ cpus: '0', env: [{ name: 'A', value: '1' }], cdiDevices: ['v/c=d'] }),
  });
  const assigned = await createAssigning([cpus, devices]).prepare(pod('a'), { name: 'main' }, never);
  assert.equal(assigned.cpus, '2-3');
  assert.equal(assigned.exclusiveCpus, true);
  assert.deepEqual(assigned.env, [{ name: 'A', value: '1' }]);
  assert.deepEqual(assigned.cdiDevices, ['v/c=d']);
});

test('what a pod had is released when it has ended', () => {
  const calls: string[] = [];
  createAssigning([provider(calls)]).follow({ kind: 'gone', uid: podUid('a'), pod: pod('a') });
  assert.deepEqual(calls, ['release a']);
});
