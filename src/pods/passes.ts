/** Makes the passes of one worker: carries out what `nextPass` decides. */
import { createAlarm } from '../base/alarm.ts';
import { assertNever } from '../base/assert-never.ts';
import { CodedError, codeOf, describeError, isClassified } from '../base/errors.ts';
import type { Logger, LogValues } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import { createWakeBit } from '../base/wake.ts';
import type { Observation } from '../model/observation.ts';
import type { Plan } from '../model/plan.ts';
import type { Observing } from './observing.ts';
import type { EndRequest, Pass } from './pass.ts';
import {
  type BegunPass,
  FIRST_PASS,
  nextPass,
  type PassEffect,
  type PassEvent,
  type PassState,
  type WakeReason,
} from './rules/pass-state.ts';
import type { WorkerInput, WorkerState } from './rules/worker-state.ts';
import type { Sync } from './sync.ts';
import type { Termination } from './termination.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface Passes {
  wake(reason: WakeReason): void;
  /** Aborts the work of a pass that syncs the pod. */
  abortWork(): void;
  /** Makes one pass. A failure is reported and retried after a back-off; it throws only when the kubelet stops. */
  pass(): Promise<void>;
  /** Resolves when a pass is due. */
  rest(signal: AbortSignal): Promise<void>;
  stop(): void;
  /** How long the pass under way has lasted, ms; 0 between passes. */
  busyFor(): number;
}

export interface PassesTools {
  readonly about: LogValues;
  readonly log: Logger;
  readonly isNew: boolean;
  readonly observing: Observing;
  readonly sync: Sync;
  readonly termination: Termination;
  readonly life: () => WorkerState;
  readonly send: (input: WorkerInput) => void;
  readonly end: (request: EndRequest) => void;
  /** A pass ended with an error and is retried at this time. */
  readonly interrupted: (error: unknown, retryAt: number) => void;
  readonly publish: (observation: Observation, plan: Plan | undefined) => void;
}

/** Reasons after which the last observation is as good as before. */
const KNOWS_NOTHING_NEW: ReadonlySet<WakeReason> = new Set(['state-changed', 'runtime-listed', 'resync']);

export function createPasses(deps: WorkerDeps, tools: PassesTools, signal: AbortSignal): Passes {
  const { clock } = deps;
  const { life } = tools;
  const createdAt = clock.mono();
  const bit = createWakeBit();
  const alarm = createAlarm(clock, () => wake('timer'));
  let state: PassState = FIRST_PASS;
  let work: LinkedSignal | undefined;

  const apply = (event: PassEvent): void => {
    const next = nextPass(state, event);
    state = next.state;
    next.effects.forEach(carryOut);
  };
  const wake = (reason: WakeReason): void => {
    // A list that shows a change of this pod wakes it with that reason.
    if (!KNOWS_NOTHING_NEW.has(reason)) tools.observing.noteChange();
    apply({ kind: 'woken', reason, life: life() });
  };

  const carryOut = (effect: PassEffect): void => {
    switch (effect.kind) {
      case 'pass':
        bit.wake();
        return;
      case 'show':
        if (work !== undefined) void show(effect.decision.plan, work.signal, effect.decision.observation);
        return;
      case 'retry':
        reportFailure(deps, tools, effect);
        tools.interrupted(effect.error, clock.now() + effect.inMs);
        alarm.ringAt(clock.now() + effect.inMs);
        return;
      case 'measure':
        measure(deps, tools, effect.pass, createdAt);
        return;
      default:
        assertNever(effect);
    }
  };

  const read = async (wanted: AbortSignal): Promise<Observation> => {
    const observation = await tools.observing.read(wanted);
    if (observation.lookAgainAt !== undefined) alarm.ringAt(observation.lookAgainAt);
    return observation;
  };

  const show = async (plan: Plan, wanted: AbortSignal, only?: Observation): Promise<void> => {
    try {
      const observation = limitTo(only, await read(wanted));
      if (life().step !== 'syncing' || work?.signal !== wanted) return;
      if (observation.announced === undefined) apply({ kind: 'caught-up' });
      tools.publish(observation, plan);
    } catch (error) {
      if (!wanted.aborted) tools.log.v(2)?.info('Failed to observe a pod while it starts', { err: error });
    }
  };

  const passOf = (wanted: AbortSignal): Pass => ({
    ...{ pod: life().pod, startedAt: tools.observing.startedAt(), wanted, signal },
    ...{ send: tools.send, end: tools.end, publish: tools.publish },
    wake: () => wake('acted'),
    lookAgainAt: alarm.ringAt,
    show: (plan) => void show(plan, wanted),
    showWhenWoken: (decision) => apply({ kind: 'acts-ahead', decision }),
  });

  const pass = async (): Promise<void> => {
    alarm.clear();
    using current = linkSignal(signal);
    work = current;
    apply({ kind: 'began', life: life(), isNew: tools.isNew, mono: clock.mono() });
    try {
      await makePass(tools, { read, passOf, wanted: current.signal, signal });
      apply({ kind: 'succeeded' });
    } catch (error) {
      apply(current.signal.aborted ? { kind: 'interrupted' } : { kind: 'failed', error });
      signal.throwIfAborted();
    } finally {
      work = undefined;
    }
  };

  return {
    wake,
    abortWork: () => work?.abort(new CodedError('gone', 'the pod must end')),
    pass,
    rest: bit.wait,
    stop: alarm.clear,
    busyFor: () => (state.step === 'resting' ? 0 : clock.mono() - state.pass.began),
  };
}

interface PassContext {
  readonly read: (signal: AbortSignal) => Promise<Observation>;
  readonly passOf: (wanted: AbortSignal) => Pass;
  readonly wanted: AbortSignal;
  readonly signal: AbortSignal;
}

async function makePass({ life, sync, termination, observing }: PassesTools, context: PassContext): Promise<void> {
  const { read, passOf, wanted, signal } = context;
  const state = life();
  switch (state.step) {
    case 'syncing': {
      const observation = await read(wanted);
      // The pod may have been ended meanwhile.
      if (life().step !== 'syncing') return;
      let acted = true;
      try {
        acted = await sync.pass(passOf(wanted), observation);
      } finally {
        // Also where the pass was aborted in the middle.
        if (acted) observing.noteChange();
      }
      return;
    }
    case 'terminating':
      await termination.stop(passOf(signal), state, async () => observing.unchanged() ?? (await read(signal)));
      return;
    case 'terminated':
      await termination.cleanUp(passOf(signal), state, () => read(signal));
      return;
    case 'gone':
      return;
    default:
      assertNever(state);
  }
}

function measure(
  { clock, supervisor, onPass }: WorkerDeps,
  { about }: PassesTools,
  pass: BegunPass,
  createdAt: number,
) {
  const { kind, began } = pass;
  const waitedMs = kind === 'create' ? began - createdAt : undefined;
  supervisor.guard('pod pass', about, () => onPass?.({ kind, ms: clock.mono() - began, waitedMs }));
}

type Retry = Extract<PassEffect, { kind: 'retry' }>;

function reportFailure({ record }: WorkerDeps, { log, life }: PassesTools, { error, inMs }: Retry): void {
  const { step, pod } = life();
  const values = { err: error, step, retryInMs: inMs };
  if (isClassified(error)) {
    // A runtime that does not answer is reported once, by its health check, not by every pod.
    const level = codeOf(error) === 'unavailable' ? log.v(2) : log;
    level?.warn('Error syncing pod, skipping', values);
    return;
  }
  // Not expected: a bug in handling this pod.
  const stack = error instanceof Error ? error.stack : undefined;
  log.error('Error syncing pod, skipping', { ...values, stack });
  record({
    pod: pod.metadata,
    type: 'Warning',
    reason: 'FailedSync',
    message: `error syncing pod: ${describeError(error)}`,
  });
}

function limitTo(known: Observation | undefined, fresh: Observation): Observation {
  if (known === undefined) return fresh;
  const ids = new Set(known.containers.map(({ id }) => id));
  return { ...fresh, containers: fresh.containers.filter(({ id }) => ids.has(id)) };
}
