import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, podUid, sandboxId } from '../../api/ids.ts';
import type { ContainerRunState, Observation, ObservedContainer, ObservedSandbox } from '../../model/observation.ts';
import { findGarbage, shareOfDead } from './garbage.ts';

const container = (name: string, attempt: number, state: ContainerRunState, sandbox = 's0'): ObservedContainer => ({
  id: containerId(`${name}${attempt}`),
  sandboxId: sandboxId(sandbox),
  name,
  state,
  createdAt: attempt,
  startedAt: attempt,
  finishedAt: state === 'exited' ? 1000 * (attempt + 1) : 0,
  exitCode: 1,
  reason: 'Error',
  message: '',
  image: 'i',
  imageId: 'i',
  imageRef: 'i',
  hash: '',
  restartCount: attempt,
  annotations: {},
  logPath: '',
  user: undefined,
  stopSignal: '',
});
const sandbox = (id: string, ready: boolean): ObservedSandbox => ({
  id: sandboxId(id),
  attempt: 0,
  ready,
  createdAt: 0,
  hostNetwork: false,
  ips: [],
  runtimeHandler: '',
});
const observe = (containers: readonly ObservedContainer[], sandboxes = [sandbox('s0', true)]): Observation => ({
  uid: podUid('u'),
  name: 'p',
  namespace: 'n',
  takenAt: 0,
  sandboxes,
  containers,
});
const ids = (observation: Observation, perContainer: number, minimumAge = 0, now = 100_000) => {
  const { actions, retryAt } = findGarbage(observation, { perContainer, minimumAge }, now);
  return { ids: actions.map(({ id }) => String(id)), retryAt };
};

test('so many dead ones of a name are kept, the newest always', () => {
  const crashed = observe([2, 1, 0].map((attempt) => container('c', attempt, 'exited')));
  const runs = observe([container('c', 2, 'running'), container('c', 1, 'exited'), container('c', 0, 'exited')]);
  const cases: readonly [Observation, number, string[]][] = [
    [crashed, 1, ['c1', 'c0']],
    [crashed, 2, ['c0']],
    [crashed, 0, ['c1', 'c0']],
    [crashed, -1, []],
    [runs, 1, ['c0']],
    [runs, 0, ['c1', 'c0']],
    [observe([container('a', 0, 'exited'), container('b', 0, 'exited')]), 1, []],
    [observe([container('c', 1, 'exited'), container('c', 0, 'created')]), 0, []],
  ];
  for (const [observation, perContainer, expected] of cases) {
    assert.deepEqual(ids(observation, perContainer).ids, expected, JSON.stringify([perContainer, expected]));
  }
});

test('too young to go: looked at again when it is old enough', () => {
  const crashed = observe([2, 1, 0].map((attempt) => container('c', attempt, 'exited')));
  assert.deepEqual(ids(crashed, 1, 60_000, 61_500), { ids: ['c0'], retryAt: 62_000 });
  assert.deepEqual(ids(crashed, 1, 60_000, 62_000), { ids: ['c1', 'c0'], retryAt: undefined });
});

test('an old sandbox goes with its last container', () => {
  const sandboxes = [sandbox('s1', true), sandbox('s0', false)];
  const both = [container('c', 1, 'running', 's1'), container('c', 0, 'exited', 's0')];
  assert.deepEqual(ids(observe(both, sandboxes), 1).ids, []);
  assert.deepEqual(ids(observe(both, sandboxes), 0).ids, ['c0', 's0']);
  assert.deepEqual(
    ids(observe([], [sandbox('s1', false), sandbox('s0', true)]), 0).ids,
    [],
    'a ready one is not ours to take',
  );
});

test('the limit of the node is shared by the names that have dead containers', () => {
  const cases: readonly [number, number, number, number][] = [
    // perContainer, total, names, share
    [1, -1, 50, 1],
    [-1, -1, 50, -1],
    [-1, 100, 10, 10],
    [3, 100, 10, 3],
    [3, 20, 10, 2],
    [3, 5, 10, 1],
    [0, 5, 10, 0],
    [2, 0, 0, 1],
  ];
  for (const [perContainer, total, names, share] of cases) {
    assert.equal(shareOfDead({ perContainer, total }, names), share, JSON.stringify([perContainer, total, names]));
  }
});
