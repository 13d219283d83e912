import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStanding, NO_CGROUPS, type NodeCgroupState, nextNodeCgroupStep, reduceNodeCgroups } from './node-cgroups.ts';
import type { QosParentLimits } from './qos-parents.ts';

const desired: QosParentLimits = { Guaranteed: {}, Burstable: { cpuShares: 10 }, BestEffort: { cpuShares: 2 } };

/** Carries every step out; answers what was done. */
function settle(state: NodeCgroupState, limits = desired): { state: NodeCgroupState; done: readonly string[] } {
  const done: string[] = [];
  let now = state;
  for (let step = nextNodeCgroupStep(now, limits); step !== undefined; step = nextNodeCgroupStep(now, limits)) {
    done.push(step.kind === 'ask driver' ? step.kind : `${step.kind} ${step.parent}`);
    now = reduceNodeCgroups(
      now,
      step.kind === 'ask driver' ? { kind: 'driver', driver: 'systemd' } : { ...step, kind: 'written' },
    );
    assert.ok(done.length < 20, done.join());
  }
  return { state: now, done };
}

test('the driver is asked for first, then each parent is created once', () => {
  assert.equal(isStanding(NO_CGROUPS), false);
  const { state, done } = settle(NO_CGROUPS);
  assert.deepEqual(done, ['ask driver', 'create Guaranteed', 'create Burstable', 'create BestEffort']);
  assert.equal(isStanding(state), true);
  assert.equal(state.driver, 'systemd');
  assert.deepEqual(settle(state).done, []);
});

test('only what has changed is written, and everything once it is stale', () => {
  const { state } = settle(NO_CGROUPS);
  assert.deepEqual(settle(state, { ...desired, Burstable: { cpuShares: 11 } }).done, ['update Burstable']);
  assert.deepEqual(settle(state, { ...desired, Guaranteed: { memoryMin: 1n } }).done, ['update Guaranteed']);
  const stale = reduceNodeCgroups(state, { kind: 'stale' });
  assert.deepEqual(settle(stale).done, ['update Guaranteed', 'update Burstable', 'update BestEffort']);
  assert.deepEqual(settle(settle(stale).state).done, []);
});
