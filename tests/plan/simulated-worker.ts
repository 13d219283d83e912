/** Walks a pod through the decisions, as a worker does: look, decide, act, until nothing is to be done; then wait. */
import assert from 'node:assert/strict';
import { containerId } from '../../src/api/ids.ts';
import type { Pod } from '../../src/api/pod.ts';
import type { CrashRecord, Plan } from '../../src/model/plan.ts';
import { computeTermination } from '../../src/plan/compute-termination.ts';
import { type Decision, decide } from '../../src/plan/plan-ahead.ts';
import type { Snapshot } from '../../src/plan/snapshot.ts';
import { BACK_OFF } from './builders.ts';
import type { SimulatedRuntime } from './simulated-runtime.ts';

/** A start that failed without a trace is tried again after this time. */
const RETRY_MS = 10_000;
/** Passes without any waiting in between: more than this and the decisions chase their own tail. */
const MOST_PASSES = 60;

export type Outcome = 'finished' | 'deadline' | 'quiet' | 'time is up';

export class SimulatedWorker {
  readonly #pod: Pod;
  readonly #runtime: SimulatedRuntime;
  readonly #startedAt: number;
  readonly #attempts = new Map<string, number>();
  crashes: ReadonlyMap<string, CrashRecord> = new Map();
  /** Called with every snapshot and what was decided about it. */
  onPlan: (snapshot: Snapshot, decision: Decision) => void = () => undefined;

  constructor(pod: Pod, runtime: SimulatedRuntime) {
    this.#pod = pod;
    this.#runtime = runtime;
    this.#startedAt = runtime.now;
  }

  /** What a kubelet forgets when it dies. */
  forget(): void {
    this.crashes = new Map();
  }

  snapshot(): Snapshot {
    const runtime = this.#runtime;
    const hooks = new Set([...runtime.failedHooks].map(containerId));
    const names = new Set(runtime.containers.map(({ name }) => name));
    return {
      pod: this.#pod,
      observation: runtime.observe(),
      probes: runtime.probes(),
      memory: new Map([...names].map((name) => [name, { waiting: undefined, failedHooks: hooks }])),
      hashes: runtime.hashes,
      backOff: BACK_OFF,
      crashes: this.crashes,
      now: runtime.now,
      startedAt: this.#startedAt,
      restartCounts: this.#attempts,
    };
  }

  runUntil(until: number): Outcome {
    const runtime = this.#runtime;
    let passes = 0;
    while (runtime.now < until) {
      const snapshot = this.snapshot();
      const decision = decide(snapshot);
      const { plan } = decision;
      this.onPlan(snapshot, decision);
      this.crashes = plan.crashes;
      if (plan.end !== undefined) return 'deadline';
      if (plan.finished) return 'finished';
      const before = runtime.log.length;
      runtime.perform(plan.actions);
      this.#remember();
      const changed = plan.actions.length > 0 && (runtime.log.length > before || !onlyStarts(plan));
      if (changed) {
        passes += 1;
        assert.ok(passes < MOST_PASSES, `no end of it:\n${runtime.log.join('\n')}`);
        continue;
      }
      passes = 0;
      const retry = plan.actions.length > 0 ? runtime.now + RETRY_MS : undefined;
      const times = [plan.retryAt, runtime.nextEvent(), retry].filter((time) => time !== undefined);
      if (times.length === 0) return 'quiet';
      runtime.now = Math.min(until, ...times);
    }
    return 'time is up';
  }

  /** The log files tell the next number where the runtime has forgotten. */
  #remember(): void {
    for (const { name, attempt } of this.#runtime.containers) {
      this.#attempts.set(name, Math.max(this.#attempts.get(name) ?? 0, attempt + 1));
    }
  }

  terminate(graceSeconds: number): void {
    const runtime = this.#runtime;
    const since = runtime.now;
    for (let pass = 0; pass < 10; pass += 1) {
      const state = { pod: this.#pod, observation: runtime.observe(), now: runtime.now };
      const { actions, finished } = computeTermination(state, { graceSeconds, since });
      if (finished) {
        assert.deepEqual(runtime.running(), []);
        return;
      }
      runtime.perform(actions);
    }
    assert.fail(`the pod does not end:\n${runtime.log.join('\n')}`);
  }
}

const onlyStarts = ({ actions }: Plan): boolean => actions.every(({ kind }) => kind === 'container-start');
