import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { computeReadinessProblem, judgeRuntimeConditions, NETWORK_UNKNOWN, type ReadinessInput } from './readiness.ts';

const fine: ReadinessInput = {
  runtime: { lastReadyAt: 1000, runtimeProblem: undefined, networkProblem: undefined },
  mono: 2000,
  partProblems: [],
  storageProblem: undefined,
  shutdownProblem: undefined,
  capacity: new Set(['cpu', 'memory', 'pods', 'ephemeral-storage']),
  localStorage: true,
};
const CASES: readonly [string, Partial<ReadinessInput>, string | undefined][] = [
  ['nothing wrong', {}, undefined],
  ['a runtime away for a moment', { mono: 30_999 }, undefined],
  ['a runtime away for long', { mono: 31_000 }, 'container runtime is down'],
  [
    'a runtime that never answered',
    { runtime: { lastReadyAt: undefined, runtimeProblem: undefined, networkProblem: NETWORK_UNKNOWN } },
    '[container runtime status check may not have completed yet, network state unknown]',
  ],
  ['storage', { storageProblem: 'CSINode is not yet initialized' }, 'CSINode is not yet initialized'],
  ['shutdown', { shutdownProblem: 'node is shutting down' }, 'node is shutting down'],
  ['a part', { partProblems: ['PLEG is not healthy: x'] }, 'PLEG is not healthy: x'],
  ['the same twice', { partProblems: ['x'], storageProblem: 'x' }, 'x'],
  ['two parts, in order', { partProblems: ['x'], storageProblem: 'y' }, '[x, y]'],
  [
    'resources missing',
    { capacity: new Set(['cpu']) },
    'missing node capacity for resources: memory, pods, ephemeral-storage',
  ],
  ['a disk that is not wanted', { capacity: new Set(['cpu', 'memory', 'pods']), localStorage: false }, undefined],
];

describe('whether a node is Ready with', () => {
  for (const [name, change, problem] of CASES) {
    it(name, () => assert.equal(computeReadinessProblem({ ...fine, ...change }), problem));
  }
});

describe('the runtime', () => {
  const ready = { type: 'RuntimeReady', status: true, reason: '', message: '' };
  const network = { type: 'NetworkReady', status: true, reason: '', message: '' };
  it('is ready', () => {
    assert.deepEqual(judgeRuntimeConditions([ready, network]), {
      runtimeProblem: undefined,
      networkProblem: undefined,
    });
  });
  it('reports a missing network in the wording of the reference', () => {
    const broken = {
      ...network,
      status: false,
      reason: 'NetworkPluginNotReady',
      message: 'Network plugin returns error: cni plugin not initialized',
    };
    assert.equal(
      judgeRuntimeConditions([ready, broken]).networkProblem,
      'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady ' +
        'message:Network plugin returns error: cni plugin not initialized',
    );
  });
  it('without conditions is not ready', () => {
    assert.deepEqual(judgeRuntimeConditions([]), {
      runtimeProblem: 'container runtime not ready: <nil>',
      networkProblem: 'container runtime network not ready: <nil>',
    });
  });
});
