/** Asks the container runtime for its status again and again: whether it is ready, and what it can do. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { StatusResponse } from '../wire/gen/cri-runtime-v1.ts';
import {
  describeRuntimeState,
  nextRuntimeState,
  pauseAfter,
  type RuntimeEvent,
  type RuntimeFacts,
  type RuntimeState,
  UNKNOWN_RUNTIME,
} from './rules/runtime-state.ts';

export interface RuntimePort {
  status(options: object, signal: AbortSignal): Promise<StatusResponse>;
  version(signal: AbortSignal): Promise<{ readonly runtimeName: string; readonly runtimeVersion: string }>;
}

export interface RuntimeWatchDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly runtime: RuntimePort;
  /** Whether it counts as ready has changed. */
  readonly onChange: () => void;
  readonly supervisor: Supervisor;
}

export interface RuntimeWatch {
  facts(): RuntimeFacts;
  /** Asks once. A runtime that does not answer is no error here. */
  check(signal: AbortSignal): Promise<void>;
  /** Asks until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export function createRuntimeWatch({ clock, log, runtime, onChange, supervisor }: RuntimeWatchDeps): RuntimeWatch {
  let state: RuntimeState = UNKNOWN_RUNTIME;
  let reported = '';

  const ask = async (signal: AbortSignal): Promise<RuntimeEvent> => {
    const status = await runtime.status({}, signal);
    const { runtimeName: name, runtimeVersion: version } = await runtime.version(signal);
    return { kind: 'answered', status, version: { name, version }, mono: clock.mono() };
  };

  /** Logs and notifies when something has changed, not at every check. */
  const report = (): void => {
    const description = describeRuntimeState(state, clock.mono());
    if (description === reported) return;
    reported = description;
    const { runtimeProblem, networkProblem } = state.facts.report;
    if (runtimeProblem !== undefined) log.info('Container runtime not ready', { runtimeReady: runtimeProblem });
    if (networkProblem !== undefined) log.info('Container runtime network not ready', { networkReady: networkProblem });
    onChange();
  };

  const check = async (signal: AbortSignal): Promise<void> => {
    try {
      state = nextRuntimeState(state, await ask(signal));
    } catch (error) {
      if (signal.aborted) return;
      if (state.kind !== 'silent') log.error('Container runtime sanity check failed', { err: error });
      state = nextRuntimeState(state, { kind: 'failed' });
    }
    report();
  };

  return {
    facts: () => state.facts,
    check,
    run: async (signal) => {
      const startedAt = clock.mono();
      const rest = () => clock.sleep(pauseAfter(state, clock.mono() - startedAt), signal);
      await supervisor.run({ name: 'runtime state', restFirst: true, pass: check, rest }, signal);
    },
  };
}
