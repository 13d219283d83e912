import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import { emptyObservation } from '../../model/observation.ts';
import type { Decision } from '../../plan/plan-ahead.ts';
import {
  FIRST_PASS,
  nextPass,
  type PassEffect,
  type PassEvent,
  type PassState,
  type WakeReason,
} from './pass-state.ts';
import type { WorkerState } from './worker-state.ts';

const pod: Pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [] } };
const syncing: WorkerState = { step: 'syncing', pod };
const ending: WorkerState = {
  step: 'terminating',
  pod,
  since: 0,
  graceSeconds: 1,
  end: undefined,
  deleted: false,
};
const terminated: WorkerState = { step: 'terminated', pod, end: undefined, deleted: false };
const decision: Decision = {
  plan: {
    actions: [],
    retryAt: undefined,
    waiting: new Map(),
    held: new Map(),
    crashes: new Map(),
    finished: false,
    events: [],
    resizing: false,
    end: undefined,
  },
  observation: emptyObservation(podUid('u'), 'p', 'n', 0),
  ahead: true,
};

const began = (life: WorkerState = syncing, isNew = false): PassEvent => ({ kind: 'began', life, isNew, mono: 7 });
const woken = (reason: WakeReason, life: WorkerState = syncing): PassEvent => ({ kind: 'woken', reason, life });

/** The state after all events, and the effects of the last one. */
function walk(...events: readonly PassEvent[]): { readonly state: PassState; readonly effects: readonly PassEffect[] } {
  return events.reduce((before, event) => nextPass(before.state, event), {
    state: FIRST_PASS,
    effects: [] as readonly PassEffect[],
  });
}

const kinds = (effects: readonly PassEffect[]) => effects.map(({ kind }) => kind);

test('which wake-ups lead to a pass', () => {
  const cases: readonly [WakeReason, WorkerState, boolean][] = [
    ['runtime-changed', syncing, true],
    ['probe-verdict', syncing, true],
    ['timer', ending, true],
    ['exit-announced', syncing, true],
    ['exit-announced', ending, false],
    ['exit-announced', terminated, false],
    ['runtime-listed', syncing, false],
    ['object-changed', syncing, true],
    ['state-changed', ending, true],
    ['acted', terminated, true],
  ];
  for (const [reason, life, isPass] of cases) {
    const { state, effects } = walk(woken(reason, life));
    assert.deepEqual([state, kinds(effects)], [FIRST_PASS, isPass ? ['pass'] : []], `${reason} while ${life.step}`);
  }
  assert.deepEqual(kinds(walk(began(), { kind: 'failed', error: 'e' }, woken('runtime-listed')).effects), ['pass']);
});

test('back-off: 1 s, doubled up to 10 s; a success ends it, an interruption does not', () => {
  const failed: PassEvent = { kind: 'failed', error: 'e' };
  const waits: number[] = [];
  let state: PassState = FIRST_PASS;
  for (let times = 0; times < 6; times += 1) {
    const next = nextPass(nextPass(state, began()).state, failed);
    state = next.state;
    for (const effect of next.effects) if (effect.kind === 'retry') waits.push(effect.inMs);
  }
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 10_000, 10_000]);
  const interrupted = nextPass(nextPass(state, began()).state, { kind: 'interrupted' });
  assert.deepEqual([interrupted.state.failures, kinds(interrupted.effects)], [6, ['measure']]);
  const succeeded = nextPass(nextPass(state, began()).state, { kind: 'succeeded' });
  assert.equal(succeeded.state.failures, 0);
});

test('a pass ahead of the runtime publishes what the runtime confirms, until it has caught up', () => {
  const ahead: PassEvent = { kind: 'acts-ahead', decision };
  assert.deepEqual(walk(began(), ahead).effects, []);
  assert.deepEqual(walk(began(), ahead, woken('runtime-changed')).effects, [
    { kind: 'pass' },
    { kind: 'show', decision },
  ]);
  assert.deepEqual(kinds(walk(began(), ahead, woken('state-changed')).effects), ['pass'], 'not about the runtime');
  assert.deepEqual(kinds(walk(began(), woken('timer'), ahead).effects), ['show'], 'woken earlier in the pass');
  assert.deepEqual(kinds(walk(began(), woken('acted'), ahead).effects), []);
  const caughtUp: PassEvent = { kind: 'caught-up' };
  assert.deepEqual(kinds(walk(began(), ahead, caughtUp, woken('runtime-changed')).effects), ['pass']);
  const over = walk(began(), ahead, { kind: 'succeeded' });
  assert.deepEqual(over.state, { step: 'resting', failures: 0, lastPod: pod });
  assert.deepEqual(kinds(walk(began(), ahead, { kind: 'succeeded' }, woken('runtime-changed')).effects), ['pass']);
});

test('the kind of a pass, as metrics name it', () => {
  const kindOf = ({ state }: { readonly state: PassState }) => (state.step === 'resting' ? undefined : state.pass.kind);
  const succeeded: PassEvent = { kind: 'succeeded' };
  assert.equal(kindOf(walk(began(syncing, true))), 'create');
  assert.equal(kindOf(walk(began(syncing, false))), 'sync', 'it ran before this kubelet started');
  assert.equal(kindOf(walk(began(syncing, true), succeeded, began(syncing, true))), 'sync');
  const edited: WorkerState = { step: 'syncing', pod: { ...pod } };
  assert.equal(kindOf(walk(began(syncing, true), succeeded, began(edited, true))), 'update');
  assert.equal(kindOf(walk(began(ending))), 'kill');
  assert.equal(kindOf(walk(began(terminated))), 'terminated');
});
