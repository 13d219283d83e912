import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadLife, type RecordedEvent } from '../lives.ts';
import { isBehind } from './pace.ts';

const event = (reason: string, count: number, message = ''): RecordedEvent => ({
  type: 'Normal',
  reason,
  message,
  count,
});
const once = [event('Pulled', 1), event('Created', 1), event('Started', 1)];
const running = [{ phase: 'Running' as const }];

const cases: readonly (readonly [string, string, readonly RecordedEvent[], 'Running' | 'Succeeded', boolean])[] = [
  ['nothing was told yet', 'best-effort', [], 'Running', true],
  ['all was told but the end', 'best-effort', once, 'Running', false],
  ['a container has still to restart', 'crash-loop', [...once, event('BackOff', 3)], 'Running', true],
  ['the pod has still to end', 'completes', once, 'Running', true],
  ['the pod has ended', 'completes', once, 'Succeeded', false],
  [
    'a message of another kind comes in its place',
    'host-path',
    [event('Pulled', 2), event('Failed', 1)],
    'Running',
    true,
  ],
  [
    'the same reason twice with other messages',
    'host-path',
    [event('Pulled', 2), event('Failed', 2)],
    'Running',
    false,
  ],
];
for (const [what, life, events, phase, expected] of cases) {
  test(`${life}: ${what}`, () =>
    assert.equal(isBehind(loadLife(life), { events, statuses: [...running, { phase }] }), expected));
}
