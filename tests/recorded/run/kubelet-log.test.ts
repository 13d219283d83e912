import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsIn, statusesIn } from './kubelet-log.ts';

const log = `
I1115 14:57:18.1 1 events.ts:106] "Event occurred" object="a/web" kind="Pod" fieldPath="spec.containers{c}" type="Normal" reason="Pulled" message="Container image \\"x\\" is there"
I1115 14:57:18.2 1 compose.ts:80] "Pod status changed" podUID="1-2" status={"phase":"Pending"}
I1115 14:57:18.3 1 events.ts:106] "Event occurred" object="a/web" kind="Pod" type="Warning" reason="Unhealthy" message=<
\tone
\ttwo
 >
I1115 14:57:18.4 1 events.ts:106] "Event occurred" object="a/other" kind="Pod" type="Normal" reason="Pulled" message="no"
I1115 14:57:18.5 1 events.ts:106] "Event occurred" object="a/web" kind="Pod" type="Warning" reason="Unhealthy" message=<
\tone
\ttwo
 > count=2
I1115 14:57:18.6 1 compose.ts:80] "Pod status changed" podUID="1-3" status={"phase":"Failed"}
I1115 14:57:18.7 1 compose.ts:80] "Pod status changed" podUID="1-2" status={"phase":"Running"}
`;

test('events are those of the pod, each once with its last count', () => {
  assert.deepEqual(eventsIn(log, 'a/web'), [
    {
      type: 'Normal',
      reason: 'Pulled',
      message: 'Container image "x" is there',
      fieldPath: 'spec.containers{c}',
      count: 1,
    },
    { type: 'Warning', reason: 'Unhealthy', message: 'one\ntwo', count: 2 },
  ]);
});

test('statuses are those of the pod in order', () => {
  assert.deepEqual(
    statusesIn(log, '1-2').map(({ phase }) => phase),
    ['Pending', 'Running'],
  );
});
