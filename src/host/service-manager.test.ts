import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWatchdog } from './service-manager.ts';

const cases: readonly [Record<string, string>, ReturnType<typeof readWatchdog>['kind']][] = [
  [{}, 'off'],
  [{ WATCHDOG_USEC: '' }, 'off'],
  [{ WATCHDOG_USEC: '30000000' }, 'on'],
  [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }, 'on'],
  [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '8' }, 'off'],
  [{ WATCHDOG_USEC: '1000000' }, 'invalid'],
  [{ WATCHDOG_USEC: '0' }, 'invalid'],
  [{ WATCHDOG_USEC: '-5' }, 'invalid'],
  [{ WATCHDOG_USEC: 'soon' }, 'invalid'],
];
for (const [environment, kind] of cases) {
  test(`a watchdog with ${JSON.stringify(environment)} is ${kind}`, () => {
    assert.equal(readWatchdog(environment, 7).kind, kind);
  });
}

test('the time is in milliseconds', () => {
  assert.deepEqual(readWatchdog({ WATCHDOG_USEC: '2500000' }, 7), { kind: 'on', timeoutMs: 2500 });
});
