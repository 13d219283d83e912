import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodView } from '../model/pod-view.ts';
import { createStatsPods } from './sources.ts';

const view = (name: string, ready = true) =>
  ({
    uid: name,
    pod: { metadata: { name, namespace: 'default' } },
    observation: {
      sandboxes: [{ id: 'box', ready, createdAt: 1 }],
      containers: [
        { id: 'old', name: 'c', image: 'i', createdAt: 1, state: 'exited', sandboxId: 'box' },
        { id: 'new', name: 'c', image: 'i', createdAt: 2, state: 'running', sandboxId: 'box' },
        { id: 'other', name: 'd', image: 'i', createdAt: 2, state: 'running', sandboxId: 'box before' },
      ],
    },
  }) as unknown as PodView;

test('what is read of pods is made once of each view, and again when the names of cgroups change', () => {
  let top = '/kubepods';
  let views = [view('a'), view('b', false)];
  let made = 0;
  const pods = createStatsPods(
    { views: () => views },
    {
      podCgroupParent: ({ metadata }) => {
        made += 1;
        return `${top}/${metadata.name}`;
      },
      containerCgroup: ({ metadata }, id) => `${top}/${metadata.name}/${id}`,
      groupCgroups: () => ({ pods: top, classes: [] }),
    },
  );
  const [first] = pods();
  assert.deepEqual(
    [pods().length, first?.cgroup, first?.sandbox?.cgroup, first?.containers.map(({ cgroup }) => cgroup)],
    [1, '/kubepods/a', '/kubepods/a/box', ['/kubepods/a/new']],
  );
  assert.equal(pods()[0], first);
  assert.equal(made, 2);
  top = '/kubepods.slice';
  assert.equal(pods()[0]?.cgroup, '/kubepods.slice/a');
  views = [view('a', false)];
  assert.deepEqual(pods(), []);
});
