/**
 * The one owner of one pod. It is woken by whoever saw something change, reads what is, decides, acts, and publishes a view;
 * it never does two things at once. Its input is merged by `nextState`; work that a new state makes pointless is aborted.
 */
import { type PodUid, podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { parseTimestamp } from '../api/timestamp.ts';
import { createAlarm } from '../base/alarm.ts';
import { assertNever } from '../base/assert-never.ts';
import { CodedError, codeOf, describeError, isClassified } from '../base/errors.ts';
import type { LogValues } from '../base/logger.ts';
import { type LinkedSignal, linkSignal } from '../base/signal.ts';
import { createWakeBit } from '../base/wake.ts';
import { emptyObservation, type Observation } from '../model/observation.ts';
import type { Plan } from '../model/plan.ts';
import type { PodView } from '../model/pod-view.ts';
import type { Decision } from '../plan/plan-ahead.ts';
import { createMemory } from './memory.ts';
import { nextState, type WorkerInput, type WorkerState } from './rules/worker-state.ts';
import { createSync } from './sync.ts';
import { createTermination } from './termination.ts';
import type { PassReport, WorkerDeps } from './worker-deps.ts';

export interface Worker {
  readonly uid: PodUid;
  send(input: WorkerInput): void;
  wake(): void;
  /** The end of a container was announced: of use only where the next one may start. */
  foretell(): void;
  /** The runtime answers: what failed may go well now. */
  retry(): void;
  /** What a container waits for with this reason may be there now. */
  tryAgain(reason: string): void;
  state(): WorkerState;
  /** Begins to work, once. Resolves when the pod is gone or the kubelet stops. */
  start(): Promise<void>;
  /** How long the pass under way has lasted, ms; 0 between passes. */
  busyFor(): number;
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 10_000;

/** What one pass of a step works with. */
export interface Pass {
  readonly pod: Pod;
  /** Aborts when the pod must go, and when the kubelet stops. */
  readonly wanted: AbortSignal;
  /** Aborts when the kubelet stops. */
  readonly signal: AbortSignal;
  wake(): void;
  /** Look again at this wall-clock time. */
  lookAgainAt(time: number): void;
  send(input: WorkerInput): void;
  publish(observation: Observation, plan: Plan | undefined): void;
  /** Reads and publishes what is, in the middle of the pass. */
  show(plan: Plan): void;
  /**
   * The pass acts on more than the runtime has said yet. When it says the rest, that is shown in the middle of the pass: of the
   * containers that were there when the pass began, since what it starts is told when it is done.
   */
  showWhenWoken(decision: Decision): void;
  readonly startedAt: number;
}

export interface WorkerStart {
  readonly state: WorkerState;
  /** Nothing of the pod is on the node yet, so that it can be told of before the runtime was asked. */
  readonly isNew: boolean;
  /** An earlier life of its UID has just ended here: what is left of it does not say when this one began. */
  readonly begins: boolean;
}

export function createWorker(
  deps: WorkerDeps,
  { state: initial, isNew, begins }: WorkerStart,
  signal: AbortSignal,
): Worker {
  const { clock } = deps;
  const uid = podUid(initial.pod.metadata.uid);
  const about = { pod: `${initial.pod.metadata.namespace}/${initial.pod.metadata.name}`, podUID: uid };
  const log = deps.log.with(about);
  const bit = createWakeBit();
  const wake = (): void => {
    bit.wake();
    wokenInPass = true;
    showRest?.();
  };
  const alarm = createAlarm(clock, wake);
  const memory = createMemory(clock);
  const stops = deps.act.createStops();
  const sync = createSync(deps, { memory, stops, log });
  const terminate = createTermination(deps, { stops, log, isNew });
  let state = initial;
  let work: LinkedSignal | undefined;
  let passBegan: number | undefined;
  const acknowledgedAt = toldStart(initial.pod) ?? clock.now();
  let startedAt = begins ? acknowledgedAt : toldStart(initial.pod);
  let failures = 0;
  let wokenInPass = false;
  let showRest: (() => void) | undefined;

  const send = (input: WorkerInput): void => {
    const before = state;
    state = nextState(state, input, clock.now());
    if (state === before) return;
    if (before.step === 'syncing' && state.step !== 'syncing') work?.abort(new CodedError('gone', 'the pod must end'));
    bit.wake();
  };

  const publish = (observation: Observation, plan: Plan | undefined): void => {
    if (state.step === 'gone') return;
    const { step, pod } = state;
    const end = state.step === 'syncing' ? undefined : state.end;
    const deleted = state.step !== 'syncing' && state.deleted;
    const view: PodView = {
      uid,
      pod,
      step,
      observation,
      plan,
      memory: memory.snapshot(),
      startedAt: startedAt ?? acknowledgedAt,
      acknowledgedAt,
      ended: end,
      deleted,
    };
    deps.publish(view);
  };

  // What no one has seen on the node isn't there: a pod's first steps need no answer of the runtime. Were it wrong, the runtime
  // would refuse a second sandbox of the same name, and the next pass looks.
  let unseen = isNew;

  const read = async (wanted: AbortSignal): Promise<Observation> => {
    const { name, namespace } = state.pod.metadata;
    if (unseen) {
      unseen = false;
      startedAt ??= clock.now();
      return emptyObservation(uid, name, namespace, clock.mono());
    }
    const observation = await deps.observe.read({ uid, name, namespace }, wanted);
    const oldest = Math.min(clock.now(), ...observation.sandboxes.map(({ createdAt }) => createdAt));
    startedAt ??= oldest;
    if (observation.lookAgainAt !== undefined) alarm.ringAt(observation.lookAgainAt);
    return observation;
  };

  const show = async (plan: Plan, wanted: AbortSignal, only?: Observation): Promise<void> => {
    try {
      const observation = limitTo(only, await read(wanted));
      if (state.step !== 'syncing' || work?.signal !== wanted) return;
      if (observation.announced === undefined) showRest = undefined;
      publish(observation, plan);
    } catch (error) {
      if (!wanted.aborted) log.v(2)?.info('Could not look at a pod while it starts', { err: error });
    }
  };

  const passOf = (wanted: AbortSignal): Pass => ({
    pod: state.pod,
    wanted,
    signal,
    wake: bit.wake,
    lookAgainAt: alarm.ringAt,
    send,
    publish,
    show: (plan) => void show(plan, wanted),
    showWhenWoken: ({ plan, observation }) => {
      showRest = () => void show(plan, wanted, observation);
      if (wokenInPass) showRest();
    },
    startedAt: startedAt ?? acknowledgedAt,
  });

  const pass = async (wanted: AbortSignal): Promise<void> => {
    switch (state.step) {
      case 'syncing': {
        const observation = await read(wanted);
        if (state.step === 'syncing') await sync.pass(passOf(wanted), observation);
        return;
      }
      case 'terminating': {
        const observation = await read(signal);
        await terminate.stop(passOf(signal), state, observation);
        return;
      }
      case 'terminated':
        await terminate.cleanUp(passOf(signal), state, () => read(signal));
        return;
      case 'gone':
        return;
      default:
        return assertNever(state);
    }
  };

  const madeAt = clock.mono();
  let passed: Pod | undefined;

  /** What the pass is for that begins now, as metrics name it. */
  const kindOfPass = (): PassReport['kind'] => {
    if (state.step !== 'syncing') return state.step === 'terminating' ? 'kill' : 'terminated';
    if (passed === undefined) return isNew ? 'create' : 'sync';
    return passed === state.pod ? 'sync' : 'update';
  };

  const runPass = async (): Promise<void> => {
    alarm.clear();
    using current = linkSignal(signal);
    work = current;
    const began = clock.mono();
    passBegan = began;
    const kind = kindOfPass();
    const waitedMs = passed === undefined && kind === 'create' ? began - madeAt : undefined;
    passed = state.pod;
    wokenInPass = false;
    try {
      await pass(current.signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) throw error;
      if (!current.signal.aborted) retryLater(error);
    } finally {
      passBegan = undefined;
      work = undefined;
      showRest = undefined;
      deps.supervisor.guard('pod pass', about, () => deps.onPass?.({ kind, ms: clock.mono() - began, waitedMs }));
    }
  };

  const retryLater = (error: unknown): void => {
    failures += 1;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
    // A runtime that is away is told of once, by whoever watches it, not by every pod.
    const told = codeOf(error) === 'unavailable' ? log.v(2) : log;
    const values = { err: error, step: state.step, retryInMs: wait };
    if (isClassified(error)) told?.warn('Could not do what the pod needs: trying again', values);
    else reportBug(error, values);
    alarm.ringAt(clock.now() + wait);
  };

  /** No one expected it: an error in handling just this pod. */
  const reportBug = (error: unknown, values: LogValues): void => {
    const stack = error instanceof Error ? error.stack : undefined;
    log.error('Error syncing pod, skipping', { ...values, stack });
    const message = `error syncing pod: ${describeError(error)}`;
    deps.record({ pod: state.pod.metadata, type: 'Warning', reason: 'FailedSync', message });
  };

  const run = async (): Promise<void> => {
    const { name, namespace } = initial.pod.metadata;
    const first = () => publish(emptyObservation(uid, name, namespace, clock.mono()), undefined);
    if (isNew) deps.supervisor.guard('pod worker', about, first);
    const isDone = () => state.step === 'gone';
    const loop = { name: 'pod worker', about, oneOfMany: true, pass: runPass, rest: bit.wait, isDone };
    await deps.supervisor.run(loop, signal);
    alarm.clear();
  };

  let done: Promise<void> | undefined;
  return {
    uid,
    send,
    wake,
    foretell: () => {
      if (state.step === 'syncing') bit.wake();
    },
    retry: () => {
      if (failures > 0) bit.wake();
    },
    tryAgain: (reason) => {
      if (memory.release(reason)) bit.wake();
    },
    state: () => state,
    start: () => {
      done ??= run();
      return done;
    },
    busyFor: () => (passBegan === undefined ? 0 : clock.mono() - passBegan),
  };
}

function limitTo(known: Observation | undefined, fresh: Observation): Observation {
  if (known === undefined) return fresh;
  const ids = new Set(known.containers.map(({ id }) => id));
  return { ...fresh, containers: fresh.containers.filter(({ id }) => ids.has(id)) };
}

/** When an earlier kubelet first had the pod, as the API server was told. */
function toldStart({ status }: Pod): number | undefined {
  return status?.startTime === undefined ? undefined : parseTimestamp(status.startTime);
}
