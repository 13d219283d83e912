import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { VolumeKind } from '../kind.ts';
import { volumeProgress } from './volume-progress.ts';
import {
  initialState,
  isUnattached,
  nextStep,
  type ResolvedVolume,
  readyOf,
  reduceVolume,
  retryDelay,
  type VolumeEvent,
  type VolumeState,
} from './volume-state.ts';

const kind = { plugin: 'test/fake' } as VolumeKind;
const volume: ResolvedVolume = { kind, directory: '/d', uniqueName: undefined };
const RESOLVED: VolumeEvent = { kind: 'resolved', volume };
const BEGUN: VolumeEvent = { kind: 'begun', stage: 'make' };
const MADE: VolumeEvent = { kind: 'made', ready: { path: '/d' }, refreshAt: undefined };
const CHANGED: VolumeEvent = { kind: 'changed' };
const failed: VolumeEvent = { kind: 'held', outcome: 'failed', message: 'disk full', code: 'exhausted' };
const MAKE = { kind: 'make', volume };
const wait = (until?: number) => ({ kind: 'wait', until });

/** All at the same time, if no other is given. */
const after = (events: readonly VolumeEvent[], now = 1000, from = initialState(now)): VolumeState =>
  events.reduce((state, event) => reduceVolume(state, event, now), from);
const next = (events: readonly VolumeEvent[], now = 1000) => nextStep(after(events), now);

test('a volume is resolved, then made, then left alone until something changes or its time comes', () => {
  assert.deepEqual(next([]), { kind: 'resolve' });
  assert.deepEqual(next([{ kind: 'begun', stage: 'resolve' }]), wait());
  assert.deepEqual(next([RESOLVED]), MAKE);
  assert.deepEqual(next([RESOLVED, BEGUN]), wait());
  assert.deepEqual(next([RESOLVED, BEGUN, MADE]), wait());
  assert.deepEqual(next([RESOLVED, BEGUN, MADE, CHANGED]), MAKE);
  const refreshed = [RESOLVED, BEGUN, { ...MADE, refreshAt: 2000 }];
  assert.deepEqual(next(refreshed, 1999), wait(2000));
  assert.deepEqual(next(refreshed, 2000), MAKE);
});

test('retries wait half a second, doubled up to two minutes and two seconds', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 8, 9, 30, 2000].map(retryDelay),
    [500, 1000, 2000, 4000, 64_000, 122_000, 122_000, 122_000],
  );
  const once = after([RESOLVED, BEGUN, failed]);
  assert.deepEqual(nextStep(once, 1000), wait(1500));
  assert.deepEqual(nextStep(once, 1500), MAKE);
  const twice = after([BEGUN, failed], 1500, once);
  assert.deepEqual(nextStep(twice, 1500), wait(2500));
  const recovered = after([BEGUN, MADE, CHANGED, BEGUN, failed], 2500, twice);
  assert.deepEqual(nextStep(recovered, 2500), wait(3000), 'a success starts the pauses again');
});

test('a resolve that does not succeed is retried, and tries of later stages are counted from one', () => {
  const resolving: VolumeEvent = { kind: 'begun', stage: 'resolve' };
  const unbound = after([resolving, { kind: 'held', outcome: 'waiting', message: 'not bound' }]);
  assert.deepEqual(nextStep(unbound, 1000), wait(1500));
  assert.deepEqual(nextStep(unbound, 1500), { kind: 'resolve' });
  assert.deepEqual(nextStep(after([CHANGED], 1000, unbound), 1000), { kind: 'resolve' });
  const bound = after([resolving, RESOLVED, BEGUN, failed], 1500, unbound);
  assert.deepEqual(nextStep(bound, 1500), wait(2000));
});

test('a change during an operation is not lost, and what was made stays usable while an update fails', () => {
  assert.deepEqual(next([RESOLVED, BEGUN, CHANGED, MADE]), MAKE);
  assert.deepEqual(next([RESOLVED, BEGUN, CHANGED, failed]), MAKE, 'what has changed is tried at once');
  const outdated = after([RESOLVED, BEGUN, MADE, CHANGED, BEGUN, failed]);
  assert.deepEqual(readyOf(outdated), { path: '/d' });
  assert.deepEqual(nextStep(outdated, 1000), wait(1500));
  assert.deepEqual(nextStep(after([CHANGED], 1000, outdated), 1000), MAKE);
});

test('a volume that may hang counts as missing before each start, and one that is being made does not', () => {
  const far: VolumeEvent = { ...MADE, ready: { path: '/far', foreign: true } };
  const unsure: VolumeEvent = { kind: 'unsure' };
  assert.deepEqual(next([RESOLVED, BEGUN, far, unsure]), MAKE);
  assert.equal(readyOf(after([RESOLVED, BEGUN, far, unsure])), undefined);
  assert.deepEqual(next([RESOLVED, BEGUN, MADE, unsure]), wait());
  assert.deepEqual(next([RESOLVED, BEGUN, far, CHANGED, BEGUN, unsure]), wait());
});

test('a volume waits for its device while it checks the attachment and between the checks', () => {
  const attaching = after([RESOLVED, BEGUN, { kind: 'entered', stage: 'attach' }]);
  assert.ok(isUnattached(attaching));
  assert.ok(isUnattached(after([{ kind: 'held', outcome: 'waiting', message: 'not attached' }], 1000, attaching)));
  assert.ok(!isUnattached(after([failed], 1000, attaching)));
  assert.ok(!isUnattached(after([{ kind: 'entered', stage: 'make' }], 1000, attaching)));
});

test('progress shows the stage and since when it is waited at, over all tries at that stage', () => {
  const shown = (state: VolumeState) => {
    const { stage, since, usable, lastTry, nextTryAt } = volumeProgress('v', state) ?? assert.fail('none');
    return { stage, since, usable, tries: lastTry?.count, nextTryAt };
  };
  const fetching: VolumeEvent = { kind: 'entered', stage: 'fetch-object' };
  const missing: VolumeEvent = { kind: 'held', outcome: 'waiting', message: 'secret "x" not found' };
  const first = after([RESOLVED, BEGUN, fetching, missing]);
  const held = { stage: 'fetch-object', since: 1000, usable: false } as const;
  assert.deepEqual(shown(first), { ...held, tries: 1, nextTryAt: 1500 });
  const second = after([BEGUN, fetching], 1500, first);
  assert.deepEqual(shown(second), { ...held, tries: 1, nextTryAt: undefined });
  assert.deepEqual(shown(after([missing], 1500, second)), { ...held, tries: 2, nextTryAt: 2500 });
  const made = after([{ kind: 'entered', stage: 'mount' }, MADE], 2600, second);
  assert.deepEqual(shown(made), { stage: 'ready', since: 2600, usable: true, tries: undefined, nextTryAt: undefined });
  assert.deepEqual(volumeProgress('v', after([{ kind: 'stopped' }], 3000, made)), undefined);
});

test('whatever happens, a volume never works and has a next step at once, is never ready without being made, and stays stopped', () => {
  const events: readonly VolumeEvent[] = [
    ...[RESOLVED, BEGUN, MADE, CHANGED, failed],
    { kind: 'entered', stage: 'attach' },
    { kind: 'held', outcome: 'waiting', message: 'w' },
    { kind: 'unsure' },
    { kind: 'stopped' },
  ];
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...events), fc.nat(200_000)), { maxLength: 30 }), (steps) => {
      let state = initialState(0);
      let now = 0;
      for (const [event, pause] of steps) {
        now += pause;
        const before = state;
        state = reduceVolume(state, event, now);
        if (before.kind === 'stopped') assert.equal(state, before);
        if (state.kind === 'working' || state.kind === 'stopped') assert.deepEqual(nextStep(state, now), wait());
        if (state.kind === 'ready') assert.ok(readyOf(state) !== undefined);
        if (state.kind === 'held') assert.ok(state.retryAt - now <= 122_000);
      }
    }),
  );
});
