/** One pass over a pod that should run: decide on a snapshot, act, remember what came of it. */
import type { Act, Outcome } from '../act/act.ts';
import type { Pod } from '../api/pod.ts';
import { allContainers } from '../api/pod-traits.ts';
import type { Logger } from '../base/logger.ts';
import { newestContainer, type Observation } from '../model/observation.ts';
import type { Action, Plan } from '../model/plan.ts';
import { type Decision, decide } from '../plan/plan-ahead.ts';
import type { Snapshot } from '../plan/snapshot.ts';
import type { Memory } from './memory.ts';
import type { Pass } from './pass.ts';
import type { WorkerDeps } from './worker-deps.ts';

export interface Sync {
  pass(pass: Pass, observation: Observation): Promise<void>;
}

/** A container or sandbox that could not be made is tried again after this time, as long as nothing else changes. */
const RETRY_MS = 10_000;
const FIRST_BLOCKED_MS = 500;

const NONE: ReadonlyMap<string, number> = new Map();

export interface SyncTools {
  readonly memory: Memory;
  readonly stops: ReturnType<Act['createStops']>;
  readonly log: Logger;
}

export function createSync(deps: WorkerDeps, { memory, stops, log }: SyncTools): Sync {
  const { clock } = deps;
  const told = createToldEvents();
  let ticket: number | undefined;
  let blocked: { readonly until: number; readonly times: number } | undefined;

  const judge = async ({ pod, startedAt }: Pass, observation: Observation): Promise<Decision> => {
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
      now: clock.now(),
      startedAt,
      restartCounts: await restartCounts(pod, observation),
    };
    const decision = decide(snapshot);
    memory.noteCrashes(decision.plan.crashes);
    for (const [name, waiting] of decision.plan.waiting) memory.note(name, waiting);
    return decision;
  };

  /** Asked for only where the runtime has no container that tells it. */
  const restartCounts = (pod: Pod, observation: Observation) => {
    const unseen = allContainers(pod).filter(({ name }) => newestContainer(observation, name) === undefined);
    return unseen.length === 0 ? NONE : deps.decisions.restartCounts(pod);
  };

  const remember = (outcomes: readonly Outcome[]): void => {
    const wasBlocked = blocked;
    blocked = undefined;
    for (const outcome of outcomes) {
      if (outcome.kind === 'blocked') {
        const times = (wasBlocked?.times ?? 0) + 1;
        const wait = Math.min(FIRST_BLOCKED_MS * 2 ** times, RETRY_MS);
        blocked = { until: clock.now() + wait, times };
      } else noteStart(memory, outcome, clock.now());
    }
  };

  const createTurn = ({ pod, wanted, show }: Pass, plan: Plan) => {
    let held: Disposable | undefined;
    return {
      hold: async () => {
        // One number for the whole start of a pod, so that who had to let go comes back before those who came later.
        ticket ??= deps.nextTicket();
        held ??= await deps.takeTurn([-(pod.spec.priority ?? 0), ticket], wanted);
      },
      release: () => {
        held?.[Symbol.dispose]();
        held = undefined;
      },
      lull: () => show(plan),
    };
  };

  const act = async (pass: Pass, decision: Decision, garbage: readonly Action[]): Promise<boolean> => {
    const { pod, wanted, signal } = pass;
    const { observation, plan, ahead } = decision;
    const actions = [...plan.actions, ...garbage];
    const held = (action: Action) => action.kind === 'container-start' && memory.isHeldBack(action.name);
    if (actions.every(held)) return false;
    if (ahead) pass.showWhenWoken(decision);
    const outcomes = await deps.act.carryOut(actions, {
      pod,
      observation,
      stops,
      turn: createTurn(pass, plan),
      isHeldBack: memory.isHeldBack,
      wanted,
      signal,
    });
    remember(outcomes);
    return true;
  };

  return {
    pass: async (pass, observation) => {
      const decision = await judge(pass, observation);
      const { plan } = decision;
      if (plan.actions.length > 0) log.v(2)?.info('Plan for pod', { actions: plan.actions });
      pass.publish(observation, plan);
      for (const event of told.fresh(plan)) deps.record({ pod: pass.pod.metadata, ...event });
      if (plan.end !== undefined) {
        pass.end({ end: plan.end, graceSeconds: undefined, eventType: 'Normal' });
        return;
      }
      if (plan.finished) {
        pass.send({ kind: 'end', end: undefined, graceSeconds: undefined });
        return;
      }
      const garbage = deps.decisions.garbage(observation, clock.now());
      const mayAct = blocked === undefined || clock.now() >= blocked.until;
      const acted = mayAct && (await act(pass, decision, garbage.actions));
      if (acted) pass.wake();
      else ticket = undefined;
      for (const time of [plan.retryAt, garbage.retryAt, blocked?.until, memory.nextTry()]) {
        if (time !== undefined) pass.lookAgainAt(time);
      }
    },
  };
}

function noteStart(memory: Memory, { name, outcome }: Extract<Outcome, { kind: 'start' }>, now: number): void {
  switch (outcome.kind) {
    case 'started':
      memory.note(name, undefined);
      return;
    case 'waiting':
      memory.note(name, { reason: outcome.reason, message: outcome.message }, outcome.retryAt ?? now + RETRY_MS);
      return;
    case 'not-run':
      memory.noteNotRun(name, { reason: outcome.reason, message: outcome.message }, now + RETRY_MS);
      return;
    case 'hook-failed':
      memory.note(name, { reason: 'PostStartHookError', message: outcome.message });
      memory.noteFailedHook(name, outcome.id);
  }
}

/** A decision is made again at every look; what follows from it is told once for each time it is made anew. */
function createToldEvents(): { fresh(plan: Plan): Plan['events'] } {
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
