/** One pass over a pod that should run: decide on a snapshot, act, remember the outcomes. */
import type { Act } from '../act/act.ts';
import type { Turn } from '../act/ports.ts';
import { podUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { sameJson } from '../base/same-json.ts';
import { type Allocation, allocationOf } from '../model/allocation.ts';
import { newestContainers, type Observation } from '../model/observation.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Action, Plan } from '../model/plan.ts';
import type { StepSubject } from '../model/step.ts';
import { type Decision, decide } from '../plan/plan-ahead.ts';
import type { Snapshot } from '../plan/snapshot.ts';
import { planSteps } from '../plan/steps.ts';
import type { Memory } from './memory.ts';
import type { Pass } from './pass.ts';
import type { Progress } from './progress.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface Sync {
  /** True where it acted: what was observed before is old then. */
  pass(pass: Pass, observation: Observation): Promise<boolean>;
}

/** A container or sandbox that failed to be created is retried after this time, as long as nothing else changes. */
const RETRY_MS = 10_000;
const FIRST_BLOCKED_MS = 500;

const NONE: ReadonlyMap<string, number> = new Map();

export interface SyncTools {
  readonly memory: Memory;
  readonly stops: ReturnType<Act['createStops']>;
  readonly progress: Progress;
  readonly log: Logger;
}

export function createSync(deps: WorkerDeps, tools: SyncTools): Sync {
  const { clock } = deps;
  const { memory, stops, progress, log } = tools;
  const reported = createReportedEvents();
  const blocked = createBlocked(clock);
  const turns = createTurns(deps);
  const resizing = createResizing(deps, progress);

  const act = async (pass: Pass, decision: Decision, actions: readonly Action[]): Promise<boolean> => {
    const { pod, wanted, signal } = pass;
    const held = (action: Action) => isHeldBack(action, memory);
    if (actions.every(held)) return false;
    if (decision.ahead) pass.showWhenWoken(decision);
    const outcomes = await deps.act.carryOut(actions, {
      ...{ pod, stops, wanted, signal },
      observation: decision.observation,
      turn: turns.create(pass, decision.plan),
      isHeldBack: memory.isHeldBack,
      onStep: progress.report,
    });
    blocked.note(outcomes, progress);
    resizing.note(pod, outcomes);
    noteStarts(tools, outcomes, clock.now());
    return true;
  };

  /** True where the pod goes on. */
  const goesOn = (pass: Pass, { end, finished }: Plan): boolean => {
    if (end !== undefined) pass.end({ end, graceSeconds: undefined, eventType: 'Normal' });
    else if (finished) pass.send({ kind: 'end', end: undefined, graceSeconds: undefined });
    return end === undefined && !finished;
  };

  return {
    pass: async (pass, observation) => {
      const decision = await decideOn(deps, memory, pass, observation);
      const { plan } = decision;
      const garbage = deps.decisions.garbage(observation, clock.now());
      const actions = [...plan.actions.filter((action) => resizing.mayAct(pass.pod, action)), ...garbage.actions];
      deps.resizes.observed(pass.pod, plan.resizing);
      if (plan.actions.length > 0) log.v(2)?.info('Plan for pod', { actions: plan.actions });
      progress.plan('syncing', planSteps(pass.pod, actions, plan.held));
      pass.publish(observation, plan);
      for (const event of reported.fresh(plan)) deps.record({ pod: pass.pod.metadata, ...event });
      if (!goesOn(pass, plan)) return false;
      const acted = blocked.mayAct() && (await act(pass, decision, actions));
      if (acted) pass.wake();
      else turns.giveUpPlace();
      for (const time of [plan.retryAt, garbage.retryAt, blocked.until(), resizing.until(), memory.nextTry()]) {
        if (time !== undefined) pass.lookAgainAt(time);
      }
      return acted;
    },
  };
}

/** A start that must not be retried yet, and what is done for such a start alone. */
function isHeldBack(action: Action, memory: Memory): boolean {
  if (action.kind === 'pod-resize') return action.startsOf?.every(memory.isHeldBack) ?? false;
  return action.kind === 'container-start' && memory.isHeldBack(action.name);
}

async function decideOn(
  deps: WorkerDeps,
  memory: Memory,
  { pod, startedAt }: Pass,
  observation: Observation,
): Promise<Decision> {
  memory.follow(pod);
  memory.compareWith(observation);
  const snapshot: Snapshot = {
    pod,
    observation,
    probes: deps.decisions.probes(),
    memory: memory.snapshot(),
    hashes: deps.decisions.hashes(pod),
    backOff: deps.decisions.backOff,
    crashes: memory.crashes(),
    now: deps.clock.now(),
    startedAt,
    restartCounts: await restartCounts(deps, pod, observation),
    resize: resizeInput(deps, pod),
  };
  const decision = decide(snapshot);
  memory.noteCrashes(decision.plan.crashes);
  for (const [name, waiting] of decision.plan.waiting) memory.note(name, waiting);
  return decision;
}

function resizeInput({ decisions, inForce }: WorkerDeps, { metadata }: Pod): Snapshot['resize'] {
  const known = inForce(podUid(metadata.uid));
  return known && decisions.resize && { inForce: known, ...decisions.resize };
}

interface Resizing {
  note(pod: Pod, outcomes: readonly Outcome[]): void;
  /** A resize that failed is not tried again in every pass. */
  mayAct(pod: Pod, action: Action): boolean;
  until(): number | undefined;
}

function createResizing({ clock, resizes, observe }: WorkerDeps, progress: Progress): Resizing {
  let failed: { readonly resources: Allocation; readonly until: number } | undefined;
  const resourcesOf = (pod: Pod) => allocationOf(pod, { podLevel: true });
  return {
    note: (pod, outcomes) => {
      const outcome = outcomes.find(({ kind }) => kind === 'resize');
      if (outcome?.kind !== 'resize') return;
      // The runtime reports no event about it, and what it said before is not so any more.
      observe.forget(podUid(pod.metadata.uid));
      failed = undefined;
      if (outcome.problem === undefined) return;
      failed = { resources: resourcesOf(pod), until: clock.now() + RETRY_MS };
      resizes.failed(pod, outcome.problem);
      progress.retryAt(({ kind }) => kind === 'pod-resize', clock.now() + RETRY_MS);
    },
    mayAct: (pod, { kind }) =>
      kind !== 'pod-resize' ||
      failed === undefined ||
      clock.now() >= failed.until ||
      !sameJson(failed.resources, resourcesOf(pod)),
    until: () => (failed !== undefined && failed.until > clock.now() ? failed.until : undefined),
  };
}

/** Read only where the runtime has no container that shows it. */
function restartCounts({ decisions }: WorkerDeps, pod: Pod, observation: Observation) {
  const seen = newestContainers(observation);
  return allContainers(pod).every(({ name }) => seen.has(name)) ? NONE : decisions.restartCounts(pod);
}

interface Turns {
  create(pass: Pass, plan: Plan): Turn;
  /** The pod does not start anything now: next time it stands behind those that came meanwhile. */
  giveUpPlace(): void;
}

function createTurns(deps: Pick<WorkerDeps, 'nextTicket' | 'takeTurn'>): Turns {
  let ticket: number | undefined;
  return {
    create: ({ pod, wanted, show }, plan) => {
      let held: Disposable | undefined;
      return {
        hold: async () => {
          // One number for the whole start of a pod: after it released its turn it comes before those that came later.
          ticket ??= deps.nextTicket();
          held ??= await deps.takeTurn([-(pod.spec.priority ?? 0), ticket], wanted);
        },
        release: () => {
          held?.[Symbol.dispose]();
          held = undefined;
        },
        pause: () => show(plan),
      };
    },
    giveUpPlace: () => {
      ticket = undefined;
    },
  };
}

interface Blocked {
  note(outcomes: readonly Outcome[], progress: Progress): void;
  mayAct(): boolean;
  until(): number | undefined;
}

/** The time before a pod that can't go on as a whole is tried again: it grows while it fails. */
function createBlocked(clock: Clock): Blocked {
  let state: { readonly until: number; readonly times: number } | undefined;
  return {
    note: (outcomes, progress) => {
      const outcome = outcomes.find(({ kind }) => kind === 'blocked');
      if (outcome?.kind !== 'blocked') {
        state = undefined;
        return;
      }
      const times = (state?.times ?? 0) + 1;
      const until = clock.now() + Math.min(FIRST_BLOCKED_MS * 2 ** times, RETRY_MS);
      state = { until, times };
      progress.retryAt(({ kind }) => kind === outcome.subject.kind, until);
    },
    mayAct: () => state === undefined || clock.now() >= state.until,
    until: () => state?.until,
  };
}

function noteStarts({ memory, progress }: SyncTools, outcomes: readonly Outcome[], now: number): void {
  for (const outcome of outcomes) {
    if (outcome.kind !== 'start') continue;
    const retryAt = noteStart(memory, outcome, now);
    const isOwn = (subject: StepSubject) => 'container' in subject && subject.container === outcome.name;
    if (retryAt !== undefined) progress.retryAt(isOwn, retryAt);
  }
}

/** Answers when the start is tried again. */
function noteStart(
  memory: Memory,
  { name, outcome }: Extract<Outcome, { kind: 'start' }>,
  now: number,
): number | undefined {
  switch (outcome.kind) {
    case 'started':
      memory.note(name, undefined);
      return undefined;
    case 'waiting': {
      const retryAt = outcome.retryAt ?? now + RETRY_MS;
      memory.note(name, { reason: outcome.reason, message: outcome.message }, retryAt);
      return retryAt;
    }
    case 'not-run':
      memory.noteNotRun(name, { reason: outcome.reason, message: outcome.message }, now + RETRY_MS);
      return now + RETRY_MS;
    case 'hook-failed':
      memory.note(name, { reason: 'PostStartHookError', message: outcome.message });
      memory.noteFailedHook(name, outcome.id);
      return undefined;
  }
}

/** A decision is made again in every pass; its events are recorded once for each time that it is a new one. */
function createReportedEvents(): { fresh(plan: Plan): Plan['events'] } {
  let before = new Set<string>();
  return {
    fresh: (plan) => {
      const keys = plan.events.map((event) => JSON.stringify([event, plan.retryAt]));
      const fresh = plan.events.filter((_, index) => !before.has(keys[index] ?? ''));
      before = new Set(keys);
      return fresh;
    },
  };
}
