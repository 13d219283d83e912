import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { type ContainerRunState, emptyObservation, type ObservedContainer } from '../model/observation.ts';
import type { PodStep, PodUpdate, PodView } from '../model/pod-view.ts';
import { findPod, followContainer, listPods, type PodsPort } from './pods-port.ts';

const makePod = (uid: string, containers = [{ name: 'c' }], annotations = {}): Pod => ({
  metadata: { name: 'web', namespace: 'n', uid, annotations },
  spec: { containers },
});

function viewOf(pod: Pod, step: PodStep, state: ContainerRunState = 'running'): PodView {
  const uid = podUid(pod.metadata.uid);
  const containers = [{ id: containerId('c-1'), name: 'c', state } as ObservedContainer];
  const observation = { ...emptyObservation(uid, 'web', 'n', 0), containers };
  return { uid, pod, step, observation } as unknown as PodView;
}

function port(views: PodView[], desired: readonly Pod[] = []) {
  const listeners = new Set<(update: PodUpdate) => void>();
  const given: PodsPort = {
    pods: {
      views: () => views,
      view: (uid) => views.find((view) => view.uid === uid),
      desired: () => ({ pods: desired }),
      subscribe: (_, listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    statuses: { get: (uid) => (uid === 'new' ? { phase: 'Running' } : undefined) },
    mirrorUid: () => 'mirror',
  };
  const notify = (update: PodUpdate) => {
    for (const listener of listeners) listener(update);
  };
  return { given, notify };
}

test('a name stands for the running pod, then for a terminating one, then for a new one', () => {
  const [old, fresh] = [viewOf(makePod('old'), 'terminating'), viewOf(makePod('new'), 'syncing')];
  assert.equal(findPod(port([old, fresh]).given, 'n', 'web')?.uid, 'new');
  assert.equal(findPod(port([old]).given, 'n', 'web')?.uid, 'old');
  assert.equal(findPod(port([], [makePod('coming')]).given, 'n', 'web')?.uid, 'coming');
  assert.equal(findPod(port([fresh]).given, 'other', 'web'), undefined);
});

test('a static pod is found by the UID of its mirror too', () => {
  const found = findPod(
    port([viewOf(makePod('new', [], { 'kubernetes.io/config.source': 'file' }), 'syncing')]).given,
    'n',
    'web',
  );
  assert.equal(found?.mirrorUid, 'mirror');
  assert.equal(found?.status?.phase, 'Running');
});

test('pods are listed as in their source, without those that only the runtime has', () => {
  const asked = makePod('new', [{ name: 'resized' }]);
  const views = [{ ...viewOf(makePod('new'), 'syncing'), asked }, viewOf(makePod('orphan', []), 'terminating')];
  const listed = listPods(port(views).given);
  assert.deepEqual(
    listed.map(({ spec, status }) => [spec.containers[0]?.name, status?.phase]),
    [['resized', 'Running']],
  );
});

test('a container is followed by the updates of its pod, and has ended when the runtime does not list it', () => {
  const views = [viewOf(makePod('new'), 'syncing')];
  const { given, notify } = port(views);
  const container = followContainer(given, podUid('new'), containerId('c-1'));
  let changes = 0;
  const stop = container.onChange(() => {
    changes += 1;
  });
  assert.equal(container.isRunning(), true);
  notify({ kind: 'gone', uid: podUid('other'), pod: makePod('other') });
  assert.equal(changes, 0);
  views[0] = viewOf(makePod('new'), 'syncing', 'exited');
  notify({ kind: 'view', view: views[0] });
  assert.equal(changes, 1);
  assert.equal(container.isRunning(), false);
  assert.equal(followContainer(given, podUid('new'), containerId('other')).isRunning(), false);
  stop();
  notify({ kind: 'gone', uid: podUid('new'), pod: makePod('new') });
  assert.equal(changes, 1);
});
