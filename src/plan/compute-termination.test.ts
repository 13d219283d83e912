import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exited, makeContainer, makePod, makeSandbox, NOW, observe, sidecar } from '../../tests/plan/builders.ts';
import { describe } from '../../tests/plan/describe.ts';
import { sandboxId } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Observation } from '../model/observation.ts';
import { computeRemoval, computeTermination } from './compute-termination.ts';
import { containerGrace, initialGrace, shrinkGrace } from './grace.ts';

const stopped = makeSandbox({ ready: false });

function terminate(pod: Pod | undefined, observation: Observation, graceSeconds = 30, elapsedMs = 0) {
  const { actions, finished } = computeTermination(
    { pod, observation, now: NOW },
    { graceSeconds, since: NOW - elapsedMs },
  );
  return { actions: actions.map(describe), finished };
}

const service = makePod({
  initContainers: [{ name: 'i', image: 'i' }, sidecar('s1'), sidecar('s2')],
  containers: [
    { name: 'a', image: 'i' },
    { name: 'b', image: 'i' },
  ],
  ephemeralContainers: [{ name: 'e', image: 'i' }],
});

test('regular containers stop side by side, sidecars after them in reverse order, then the sandbox', () => {
  const all = ['e', 'b', 'a', 's2', 's1'].map((name) => makeContainer(name));
  assert.deepEqual(terminate(service, observe([...all, exited('i', 0)])), {
    actions: [
      'stop e-id (Stopping container e; Unknown; 30 s)',
      'stop b-id (Stopping container b; Unknown; 30 s)',
      'stop a-id (Stopping container a; Unknown; 30 s)',
      'stop s2-id (Stopping container s2; Unknown; 30 s) after b-id a-id',
      'stop s1-id (Stopping container s1; Unknown; 30 s) after b-id a-id s2-id',
      'stop sandbox s0',
    ],
    finished: false,
  });
});

test('who has ended is not waited for', () => {
  const observation = observe([exited('b', 0), exited('a', 0), makeContainer('s2'), makeContainer('s1')]);
  assert.deepEqual(terminate(service, observation).actions, [
    'stop s2-id (Stopping container s2; Unknown; 30 s)',
    'stop s1-id (Stopping container s1; Unknown; 30 s) after s2-id',
    'stop sandbox s0',
  ]);
});

test('an init container that runs is stopped like the others', () => {
  assert.deepEqual(terminate(service, observe([makeContainer('i')])).actions, [
    'stop i-id (Stopping container i; Unknown; 30 s)',
    'stop sandbox s0',
  ]);
});

test('the grace counts from the beginning, and when it is over no one waits', () => {
  const observation = observe([makeContainer('a'), makeContainer('s1')]);
  assert.deepEqual(terminate(service, observation, 30, 10_000).actions.slice(0, 2), [
    'stop a-id (Stopping container a; Unknown; 20 s)',
    'stop s1-id (Stopping container s1; Unknown; 20 s) after a-id',
  ]);
  assert.deepEqual(terminate(service, observation, 30, 31_000).actions.slice(0, 2), [
    'stop a-id (Stopping container a; Unknown; 0 s)',
    'stop s1-id (Stopping container s1; Unknown; 0 s)',
  ]);
});

test('a clock that was set back does not prolong it', () => {
  assert.deepEqual(terminate(service, observe([makeContainer('a')]), 30, -10_000).actions.slice(0, 1), [
    'stop a-id (Stopping container a; Unknown; 30 s)',
  ]);
});

test('a container in an unknown state may run: it is stopped; one that never started is not', () => {
  const observation = observe([makeContainer('a', { state: 'unknown' }), makeContainer('b', { state: 'created' })]);
  assert.deepEqual(terminate(service, observation).actions, [
    'stop a-id (Stopping container a; Unknown; 30 s)',
    'stop sandbox s0',
  ]);
});

test('a pod that only the runtime knows ends too', () => {
  assert.deepEqual(terminate(undefined, observe([makeContainer('z')]), 1).actions, [
    'stop z-id (Stopping container z; Unknown; 1 s)',
    'stop sandbox s0',
  ]);
});

test('it is over when nothing runs and no sandbox is ready', () => {
  assert.deepEqual(terminate(service, observe([exited('a', 0)])), { actions: ['stop sandbox s0'], finished: false });
  assert.deepEqual(terminate(service, observe([exited('a', 0)], [stopped])), { actions: [], finished: true });
  assert.deepEqual(terminate(service, observe([], [])), { actions: [], finished: true });
});

test('what is gone is removed, containers before their sandboxes', () => {
  const observation = observe([exited('a', 0), makeContainer('b', { state: 'created' })], [stopped]);
  assert.deepEqual(computeRemoval(observation).map(describe), ['remove a-id', 'remove b-id', 'remove sandbox s0']);
});

test('what may still run is not removed, nor its sandbox', () => {
  const busy = sandboxId('busy');
  const observation = observe(
    [makeContainer('a', { sandboxId: busy }), exited('b', 0)],
    [makeSandbox({ id: busy, ready: false }), stopped, makeSandbox({ id: sandboxId('ready') })],
  );
  assert.deepEqual(computeRemoval(observation).map(describe), ['remove b-id', 'remove sandbox s0']);
});

test('a grace only shrinks, and is never nothing', () => {
  assert.equal(shrinkGrace(30, 5), 5);
  assert.equal(shrinkGrace(5, 30), 5);
  assert.equal(shrinkGrace(undefined, 30), 30);
  assert.equal(shrinkGrace(30, undefined), 30);
  assert.equal(shrinkGrace(30, 0), 1);
  assert.equal(shrinkGrace(undefined, undefined), 1);
});

test('a pod’s grace comes from its deletion, then from its description', () => {
  assert.equal(initialGrace(makePod({}, { deletionGracePeriodSeconds: 4 })), 4);
  assert.equal(initialGrace(makePod({ terminationGracePeriodSeconds: 9 })), 9);
  assert.equal(initialGrace(makePod({ terminationGracePeriodSeconds: 0 })), 1);
});

test('a container’s grace: the deletion’s, its probe’s, the pod’s, or the least', () => {
  const probe = { name: 'c', livenessProbe: { terminationGracePeriodSeconds: 3 }, startupProbe: {} };
  assert.equal(containerGrace(makePod(), probe, 'LivenessProbe'), 3);
  assert.equal(containerGrace(makePod(), probe, 'StartupProbe'), 30);
  assert.equal(containerGrace(makePod(), probe, 'Unknown'), 30);
  assert.equal(containerGrace(makePod({}, { deletionGracePeriodSeconds: 8 }), probe, 'LivenessProbe'), 8);
  const { terminationGracePeriodSeconds: _, ...spec } = makePod().spec;
  assert.equal(containerGrace({ ...makePod(), spec }, probe, 'LivenessProbe'), 2);
});
