import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerState, ContainerStatus } from '../../../api/pod-status.ts';
import { chooseLog } from './log-choice.ts';

const ended = (containerID?: string): ContainerState => ({
  terminated: { exitCode: 0, ...(containerID && { containerID }) },
});
const waiting = (reason?: string): ContainerState => ({ waiting: reason === undefined ? {} : { reason } });
const running: ContainerState = { running: {} };
const WHERE = 'container "c" in pod "p"';

for (const [what, state, lastState, previous, expected] of [
  ['runs', running, {}, false, 'containerd://now'],
  ['runs again', running, ended('containerd://before'), false, 'containerd://now'],
  ['runs again, the one before', running, ended('containerd://before'), true, 'containerd://before'],
  ['ended', ended('containerd://end'), {}, false, 'containerd://end'],
  ['ended without a container', ended(), ended('containerd://before'), false, 'containerd://before'],
  ['ended and nothing known', ended(), {}, false, `${WHERE} is terminated`],
  ['backs off', waiting('CrashLoopBackOff'), ended('containerd://before'), false, 'containerd://before'],
  ['backs off after nothing', waiting('CrashLoopBackOff'), ended(), false, `${WHERE} is terminated`],
  ['starts', waiting('ContainerCreating'), {}, false, `${WHERE} is waiting to start: ContainerCreating`],
  ['no image', waiting('ErrImagePull'), {}, false, `${WHERE} is waiting to start: image can't be pulled`],
  [
    'still no image',
    waiting('ImagePullBackOff'),
    {},
    false,
    `${WHERE} is waiting to start: trying and failing to pull image`,
  ],
  ['nothing said', {}, {}, false, `${WHERE} is waiting to start - no logs yet`],
  ['nothing before', running, {}, true, `previous terminated ${WHERE} not found`],
  ['something before, without a container', running, ended(), true, `previous terminated ${WHERE} not found`],
] as const) {
  test(`a container that ${what}`, () => {
    const status = { name: 'c', state, lastState, containerID: 'containerd://now' } as ContainerStatus;
    for (const kind of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']) {
      const chosen = chooseLog({ [kind]: [status] }, { pod: 'p', container: 'c', previous });
      assert.equal(chosen.ok ? chosen.value : chosen.problem, expected);
    }
  });
}

test('a container without a status', () => {
  for (const status of [undefined, {}, { containerStatuses: [] }]) {
    const chosen = chooseLog(status, { pod: 'p', container: 'c', previous: false });
    assert.deepEqual(chosen, { ok: false, problem: `${WHERE} is not available` });
  }
});
