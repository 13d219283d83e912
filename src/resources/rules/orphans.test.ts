import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SWEEP, planSweep } from './orphans.ts';

test('a cgroup that belongs to no pod at two looks is an orphan; one from before the start only once it was handled here', () => {
  const known = new Set<string>();
  const handled = new Set<string>();
  let state = NO_SWEEP;
  const look = (...listed: string[]) => {
    const plan = planSweep(state, { listed, isKnown: (uid) => known.has(uid), wasKnown: (uid) => handled.has(uid) });
    state = plan.state;
    return plan.orphans;
  };
  assert.deepEqual(look('old', 'mine'), []);
  known.add('mine');
  assert.deepEqual(look('old', 'mine', 'late'), []);
  assert.deepEqual(look('old', 'mine', 'late'), ['late'], 'tried again while it is there');
  assert.deepEqual(look('old', 'mine', 'late'), ['late']);
  handled.add('old');
  assert.deepEqual(look('old', 'mine'), []);
  known.add('old');
  assert.deepEqual(look('old', 'mine'), [], 'a pod that came meanwhile');
  known.clear();
  assert.deepEqual(look('old', 'mine'), []);
  handled.add('mine');
  assert.deepEqual(look('old', 'mine'), ['old']);
  assert.deepEqual(look('old', 'mine'), ['old', 'mine']);
});
