import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeCondition } from '../../api/node.ts';
import { computeConditions } from './conditions.ts';

const FREE = { memory: false, disk: false, pid: false };
const T0 = 1_000_000;
const T1 = 1_060_000;
const first = computeConditions([], { now: T0, pressure: FREE, readinessProblem: undefined });
const ofType = (conditions: readonly NodeCondition[], type: string) =>
  conditions.find((condition) => condition.type === type);

describe('conditions', () => {
  it('of a new node have Ready last, with their events', () => {
    assert.deepEqual(
      first.conditions.map(({ type, status, reason, message }) => [type, status, reason, message]),
      [
        ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
        ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
        ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
        ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
      ],
    );
    assert.deepEqual(first.events, ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID']);
  });

  it('that stay the same keep their transition time, without an event', () => {
    const again = computeConditions(first.conditions, { now: T1, pressure: FREE, readinessProblem: undefined });
    for (const { lastTransitionTime, lastHeartbeatTime } of again.conditions) {
      assert.equal(lastTransitionTime, '1970-01-01T00:16:40Z');
      assert.equal(lastHeartbeatTime, '1970-01-01T00:17:40Z');
    }
    assert.deepEqual(again.events, []);
  });

  for (const [pressure, type, reason, message, event] of [
    [
      'memory',
      'MemoryPressure',
      'KubeletHasInsufficientMemory',
      'kubelet has insufficient memory available',
      'NodeHasInsufficientMemory',
    ],
    ['disk', 'DiskPressure', 'KubeletHasDiskPressure', 'kubelet has disk pressure', 'NodeHasDiskPressure'],
    [
      'pid',
      'PIDPressure',
      'KubeletHasInsufficientPID',
      'kubelet has insufficient PID available',
      'NodeHasInsufficientPID',
    ],
  ] as const) {
    it(`report ${pressure} pressure and its end`, () => {
      const under = computeConditions(first.conditions, {
        now: T1,
        pressure: { ...FREE, [pressure]: true },
        readinessProblem: undefined,
      });
      const now = '1970-01-01T00:17:40Z';
      assert.deepEqual(ofType(under.conditions, type), {
        type,
        status: 'True',
        reason,
        message,
        lastHeartbeatTime: now,
        lastTransitionTime: now,
      });
      assert.deepEqual(under.events, [event]);
      const after = computeConditions(under.conditions, { now: T1, pressure: FREE, readinessProblem: undefined });
      assert.equal(ofType(after.conditions, type)?.status, 'False');
      assert.equal(after.events.length, 1);
    });
  }

  it('report once that a node is not ready, and update its reason', () => {
    const input = { now: T1, pressure: FREE };
    const down = computeConditions(first.conditions, { ...input, readinessProblem: 'container runtime is down' });
    assert.deepEqual(down.events, ['NodeNotReady']);
    const ready = ofType(down.conditions, 'Ready');
    assert.equal(ready?.reason, 'KubeletNotReady');
    assert.equal(ready.message, 'container runtime is down');
    const worse = computeConditions(down.conditions, { ...input, now: T1 + 5000, readinessProblem: 'worse' });
    assert.deepEqual(worse.events, []);
    assert.equal(ofType(worse.conditions, 'Ready')?.lastTransitionTime, ready.lastTransitionTime);
    assert.equal(ofType(worse.conditions, 'Ready')?.message, 'worse');
    const up = computeConditions(worse.conditions, { ...input, readinessProblem: undefined });
    assert.deepEqual(up.events, ['NodeReady']);
  });

  it('that the control plane has set to Unknown are reported again', () => {
    const unknown = first.conditions.map((condition) => ({
      ...condition,
      status: 'Unknown' as const,
      reason: 'NodeStatusUnknown',
    }));
    const back = computeConditions(unknown, { now: T1, pressure: FREE, readinessProblem: undefined });
    assert.deepEqual(back.events, [
      'NodeHasSufficientMemory',
      'NodeHasNoDiskPressure',
      'NodeHasSufficientPID',
      'NodeReady',
    ]);
    assert.ok(back.conditions.every(({ reason }) => reason?.startsWith('Kubelet')));
  });

  it('of others keep their position', () => {
    const network: NodeCondition = { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated' };
    const mixed = [network, ...first.conditions];
    const after = computeConditions(mixed, { now: T1, pressure: FREE, readinessProblem: undefined });
    assert.equal(after.conditions[0], network);
    assert.equal(after.conditions.length, 5);
  });
});
