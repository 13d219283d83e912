import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from './outcome.ts';
import { firstState, nextProbe, type ProbeInput, type ProbeState, type ProbeTraits } from './probe-state.ts';

const traits = (type: ProbeTraits['type'], more: Partial<ProbeTraits> = {}): ProbeTraits => ({
  type,
  spec: { failureThreshold: 2 },
  periodMs: 10_000,
  place: 0,
  ...more,
});
const failure: Outcome = { kind: 'failure', output: 'no', answered: true };
const silence: Outcome = { kind: 'failure', output: 'timeout' };
const success: Outcome = { kind: 'success', output: '' };
const outcome = (what: Outcome, stalled = false): ProbeInput => ({ kind: 'outcome', outcome: what, stalled, ms: 5 });

/** Walks through the inputs; the state at the end and the kinds of effects after each. */
function walk(state: ProbeState, inputs: readonly ProbeInput[], probe: ProbeTraits) {
  const effects: string[][] = [];
  let at = state;
  for (const input of inputs) {
    const next = nextProbe(at, input, probe);
    at = next.state;
    effects.push(next.effects.map(({ kind }) => kind));
  }
  return { state: at, effects };
}

test('a check begins when it is due, and the next one is planned when all that follows is done', () => {
  const readiness = traits('readiness');
  const inputs: readonly ProbeInput[] = [{ kind: 'due', due: 100 }, outcome(success), { kind: 'done', now: 130 }];
  const { state, effects } = walk(firstState('readiness', 'unknown'), inputs, readiness);
  assert.deepEqual(effects, [['check'], ['report', 'count', 'publish'], ['run-at']]);
  assert.deepEqual([state.step, state.count.verdict], ['waiting', 'success']);
  const same = walk(state, inputs, readiness);
  assert.deepEqual(same.effects[1], ['report', 'count'], 'an unchanged verdict is not published');
});

test('a probe that waits or is paused has no outcome', () => {
  const waiting = firstState('readiness', 'unknown');
  assert.deepEqual(walk(waiting, [outcome(failure), { kind: 'done', now: 1 }], traits('readiness')).effects, [[], []]);
  const inputs: readonly ProbeInput[] = [
    { kind: 'due', due: 1 },
    { kind: 'pause' },
    outcome(success),
    { kind: 'done', now: 2 },
    { kind: 'due', due: 3 },
  ];
  const { state, effects } = walk(waiting, inputs, traits('readiness'));
  assert.deepEqual(effects, [['check'], ['cancel'], [], [], []]);
  assert.equal(state.step, 'paused');
});

test('a failed liveness probe and a startup probe with its verdict are settled: no other check follows', () => {
  for (const [type, results] of [
    ['liveness', [failure, failure]],
    ['startup', [success]],
    ['startup', [failure, failure]],
  ] as const) {
    const inputs = results.flatMap((what): readonly ProbeInput[] => [
      { kind: 'due', due: 0 },
      outcome(what),
      { kind: 'done', now: 1 },
    ]);
    const { state, effects } = walk(firstState(type, 'unknown'), inputs, traits(type));
    assert.equal(state.step, 'settled', type);
    assert.deepEqual(effects.slice(-2), [['report', 'count', 'publish'], []]);
  }
  assert.equal(firstState('startup', 'success').step, 'settled');
  assert.equal(firstState('readiness', 'success').step, 'waiting');
});

test('a check without an answer during a stall is ignored; an error is reported and not counted', () => {
  const checking: ProbeState = { ...firstState('readiness', 'success'), step: 'checking', due: 0 };
  const kinds = (input: ProbeInput) => nextProbe(checking, input, traits('readiness')).effects.map(({ kind }) => kind);
  assert.deepEqual(kinds(outcome(silence, true)), ['ignore']);
  assert.deepEqual(kinds(outcome(failure, true)), ['report', 'count']);
  assert.deepEqual(kinds(outcome({ kind: 'error', state: 'unknown', message: 'm' })), ['report']);
});

test('a container that is not ready is checked at its place, sooner than after a period', () => {
  const at = (verdict: 'success' | 'failure') => {
    const checking: ProbeState = { ...firstState('readiness', verdict), step: 'checking', due: 12_000 };
    return nextProbe(checking, { kind: 'done', now: 12_000 }, traits('readiness', { place: 0.5 })).effects;
  };
  assert.deepEqual(at('failure'), [{ kind: 'run-at', time: 15_000 }]);
  assert.deepEqual(at('success'), [{ kind: 'run-at', time: 23_000 }]);
});
