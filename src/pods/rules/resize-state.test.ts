import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/pod.ts';
import type { PodResize } from '../../model/allocation.ts';
import { nextResize, type ResizeEvent, reportedResize } from './resize-state.ts';

const deferred = (generation: number, message = 'full'): ResizeEvent => ({
  kind: 'refused',
  reason: 'Deferred',
  message,
  generation,
});
const observed = (resizing: boolean, generation = 9): ResizeEvent => ({ kind: 'observed', resizing, generation });

/** Each event a second after the last one; the reports as `Started 2`. */
function live(events: readonly ResizeEvent[]): { state: PodResize; reports: readonly string[] } {
  const reports: string[] = [];
  let state: PodResize = {};
  events.forEach((event, at) => {
    const next = nextResize(state, event, at);
    state = next.state;
    if (next.report !== undefined) reports.push(`${next.report.what} ${next.report.generation}`);
  });
  return { state, reports };
}

test('a resize is reported when it is deferred, when it starts and when it is complete', () => {
  const { state, reports } = live([
    deferred(2),
    deferred(2, 'still full'),
    { kind: 'accepted', generation: 2 },
    observed(true),
    observed(false),
    observed(false),
  ]);
  assert.deepEqual(reports, ['Deferred 2', 'Started 2', 'Completed 2']);
  assert.deepEqual(state, {});
});

test('a condition has the time since when its reason holds, and the generation that it is about', () => {
  const { state } = live([deferred(2), deferred(3, 'fuller'), observed(true, 3)]);
  assert.deepEqual(state, {
    pending: { reason: 'Deferred', message: 'fuller', generation: 3, since: 0 },
    inProgress: { generation: 3, since: 2 },
  });
});

test('a resize that is taken back is not pending any more, and one in progress goes on', () => {
  const { state, reports } = live([{ kind: 'accepted', generation: 2 }, deferred(3), { kind: 'settled' }]);
  assert.deepEqual(state, { inProgress: { generation: 2, since: 0 } });
  assert.deepEqual(reports, ['Started 2', 'Deferred 3']);
});

test('an error is reported once for each message, and is over with the next resize', () => {
  const failed: ResizeEvent = { kind: 'failed', message: 'in use', generation: 9 };
  const { state, reports } = live([{ kind: 'accepted', generation: 2 }, failed, failed, observed(true)]);
  assert.deepEqual(reports, ['Started 2', 'Error 2']);
  assert.deepEqual(state, { inProgress: { error: 'in use', generation: 2, since: 1 } });
  assert.deepEqual(nextResize(state, { kind: 'accepted', generation: 3 }, 7).state, {
    inProgress: { generation: 3, since: 7 },
  });
});

test('what an earlier kubelet reported is where this one begins', () => {
  const conditions = [
    { type: 'PodResizePending', status: 'True', reason: 'Deferred', message: 'm', observedGeneration: 3 },
    {
      type: 'PodResizeInProgress',
      status: 'True',
      reason: 'Error',
      message: 'e',
      observedGeneration: 2,
      lastTransitionTime: '1970-01-01T00:00:05Z',
    },
  ];
  const pod = { metadata: { generation: 3 }, status: { conditions } } as unknown as Pod;
  assert.deepEqual(reportedResize(pod, 9), {
    pending: { reason: 'Deferred', message: 'm', generation: 3, since: 9 },
    inProgress: { error: 'e', generation: 2, since: 5000 },
  });
});
