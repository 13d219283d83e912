import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RELIST_THRESHOLD_MS, relistProblems } from './relist.ts';

test('a list that is older than three minutes is a problem of the node', () => {
  assert.deepEqual(relistProblems(RELIST_THRESHOLD_MS), []);
  assert.deepEqual(relistProblems(RELIST_THRESHOLD_MS + 1000), [
    'PLEG is not healthy: pleg was last seen active 3m1s ago; threshold is 3m0s',
  ]);
});
