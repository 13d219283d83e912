/**
 * The one owner of one pod. When it is woken, it makes one pass: observe, plan, act, publish a view. It never makes two passes at once.
 * Its input is merged by `nextState`; work that a new state makes pointless is aborted.
 */
import type { PodUid } from '../api/ids.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import type { PodExplanation } from '../model/explanation.ts';
import type { Observation } from '../model/observation.ts';
import type { Plan } from '../model/plan.ts';
import type { ExplainInput } from '../plan/explain.ts';
import { createMemory } from './memory.ts';
import { createObserving } from './observing.ts';
import type { EndRequest } from './pass.ts';
import { createPasses } from './passes.ts';
import { createProgress } from './progress.ts';
import type { WakeReason } from './rules/pass-state.ts';
import { CONFIG_ERROR } from './rules/waiting-for-objects.ts';
import { nextState, type WorkerInput, type WorkerState } from './rules/worker-state.ts';
import { createSync } from './sync.ts';
import { createTermination } from './termination.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface Worker {
  readonly uid: PodUid;
  send(input: WorkerInput): void;
  /** Ends the pod, and reports the end with an event unless the pod ends already. */
  end(request: EndRequest): void;
  wake(reason: WakeReason): void;
  /** How far a volume is has changed: for the explanation. */
  volumesProgressed(): void;
  state(): WorkerState;
  /** Begins to work, once. Resolves when the pod is gone or the kubelet stops. */
  start(): Promise<void>;
  /** How long the pass under way has lasted, ms; 0 between passes. */
  busyFor(): number;
}

export interface WorkerStart {
  readonly state: WorkerState;
  /** Nothing of the pod is on the node yet, so that it can be reported before the runtime is asked. */
  readonly isNew: boolean;
  /** An earlier life of its UID has just ended here: what is left of it does not show when this one began. */
  readonly begins: boolean;
}

export function createWorker(
  deps: WorkerDeps,
  { state: initial, isNew, begins }: WorkerStart,
  stopping: AbortSignal,
): Worker {
  // Its own: each listener that is added to a signal is compared with all others there, and there may be thousands of pods.
  const own = linkSignal(stopping);
  const { signal } = own;
  const { clock, supervisor } = deps;
  const observing = createObserving(deps, { pod: initial.pod, isNew, begins });
  const { uid, acknowledgedAt } = observing;
  const about = { pod: `${initial.pod.metadata.namespace}/${initial.pod.metadata.name}`, podUID: uid };
  const log = deps.log.with(about);
  const memory = createMemory(clock);
  const progress = createProgress({
    clock,
    about: () => ({ ...aboutPod(state, acknowledgedAt), volumes: deps.volumeProgress?.(uid) ?? [] }),
    onChange: (explanation) => deps.explain(uid, logged(log, explanation)),
  });
  const stops = deps.act.createStops(progress.report);
  let state = initial;
  let done: Promise<void> | undefined;

  const send = (input: WorkerInput): void => {
    const before = state;
    state = nextState(state, input, clock.now());
    if (state === before) return;
    if (before.step === 'syncing' && state.step !== 'syncing') passes.abortWork();
    passes.wake('state-changed');
  };

  const end = ({ end: ending, graceSeconds, eventType, annotations }: EndRequest): void => {
    const { reason, message } = ending;
    if (state.step === 'syncing' && eventType !== undefined)
      deps.record({ pod: state.pod.metadata, type: eventType, reason, message, ...(annotations && { annotations }) });
    send({ kind: 'end', end: ending, graceSeconds });
  };

  const publish = (observation: Observation, plan: Plan | undefined): void => {
    if (state.step === 'gone') return;
    const { step, pod } = state;
    const { end: ended, deleted } = state.step === 'syncing' ? { end: undefined, deleted: false } : state;
    const times = { startedAt: observing.startedAt(), acknowledgedAt };
    const explanation = logged(log, progress.explanation());
    const known = { observation, plan, explanation, memory: memory.snapshot() };
    deps.publish({ uid, pod, step, ...known, ...times, ended, deleted });
  };

  const passes = createPasses(
    deps,
    {
      ...{ about, log, isNew, observing, send, end, publish },
      sync: createSync(deps, { memory, stops, progress, log }),
      termination: createTermination(deps, { stops, progress, log, isNew }),
      interrupted: progress.interrupted,
      life: () => state,
    },
    signal,
  );

  const run = async (): Promise<void> => {
    if (isNew) supervisor.guard('pod worker', about, () => publish(observing.nothing(), undefined));
    const { pass, rest } = passes;
    const isDone = () => state.step === 'gone';
    await supervisor.run({ name: 'pod worker', about, oneOfMany: true, pass, rest, isDone }, signal);
    passes.stop();
    own[Symbol.dispose]();
  };

  return {
    uid,
    send,
    end,
    wake: (reason) => {
      if (reason === 'object-changed' && !memory.release(CONFIG_ERROR)) return;
      passes.wake(reason);
    },
    volumesProgressed: progress.refresh,
    state: () => state,
    start: () => {
      done ??= run();
      return done;
    },
    busyFor: passes.busyFor,
  };
}

function aboutPod(state: WorkerState, acknowledgedAt: number): Omit<ExplainInput, 'journal' | 'volumes'> {
  const { uid, namespace, name } = state.pod.metadata;
  const ended = state.step === 'terminating' || state.step === 'terminated' ? state.end : undefined;
  const step = state.step === 'gone' ? 'terminated' : state.step;
  return { pod: { uid, namespace, name }, step, acknowledgedAt, ended };
}

function logged(log: Logger, explanation: PodExplanation): PodExplanation {
  log.v(4)?.info('Explanation of pod', { explanation });
  return explanation;
}
