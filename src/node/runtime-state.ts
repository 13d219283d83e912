/** What the container runtime says about itself, asked for again and again: whether it is ready, and what it can do. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { RuntimeFeatures, RuntimeHandler, StatusResponse } from '../wire/gen/cri-runtime-v1.ts';
import type { RuntimeVersion } from './rules/node-info.ts';
import { judgeRuntimeConditions, NETWORK_UNKNOWN, RUNTIME_AWAY_MS, type RuntimeReport } from './rules/readiness.ts';

export interface RuntimePort {
  status(options: object, signal: AbortSignal): Promise<StatusResponse>;
  version(signal: AbortSignal): Promise<{ readonly runtimeName: string; readonly runtimeVersion: string }>;
}

export interface RuntimeStateDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly runtime: RuntimePort;
  /** Whether it counts as ready has changed: look again. */
  readonly onChange: () => void;
  readonly supervisor: Supervisor;
}

export interface RuntimeState {
  report(): RuntimeReport;
  version(): RuntimeVersion;
  handlers(): readonly RuntimeHandler[];
  features(): RuntimeFeatures | undefined;
  /** Asks once. A runtime that does not answer is no error here. */
  look(signal: AbortSignal): Promise<void>;
  /** Asks until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** A node that comes up is Ready as soon as its runtime is. */
const STARTING_MS = 200;
const STARTING_FOR_MS = 120_000;
const UNREADY_MS = 1000;
const READY_MS = 5000;

export function createRuntimeState({ clock, log, runtime, onChange, supervisor }: RuntimeStateDeps): RuntimeState {
  let report: RuntimeReport = { lastReadyAt: undefined, runtimeProblem: undefined, networkProblem: NETWORK_UNKNOWN };
  let version: RuntimeVersion = { name: 'containerd', version: undefined };
  let handlers: readonly RuntimeHandler[] = [];
  let features: RuntimeFeatures | undefined;
  let answers: boolean | undefined;
  let told = '';

  const ask = async (signal: AbortSignal): Promise<void> => {
    const status = await runtime.status({}, signal);
    const { runtimeName, runtimeVersion } = await runtime.version(signal);
    version = { name: runtimeName, version: runtimeVersion };
    const verdict = judgeRuntimeConditions(status.status?.conditions ?? []);
    report = { ...report, ...verdict };
    if (verdict.runtimeProblem !== undefined) return;
    handlers = status.runtimeHandlers;
    features = status.features;
    report = { ...report, lastReadyAt: clock.mono() };
  };

  /** In the log when it changes, not every second. */
  const tell = (): void => {
    const { lastReadyAt, runtimeProblem, networkProblem } = report;
    const isAway = lastReadyAt === undefined || clock.mono() - lastReadyAt >= RUNTIME_AWAY_MS;
    const now = JSON.stringify([answers, isAway, runtimeProblem, networkProblem]);
    if (now === told) return;
    told = now;
    if (runtimeProblem !== undefined) log.info('Container runtime not ready', { runtimeReady: runtimeProblem });
    if (networkProblem !== undefined) log.info('Container runtime network not ready', { networkReady: networkProblem });
    onChange();
  };

  const look = async (signal: AbortSignal): Promise<void> => {
    try {
      await ask(signal);
      answers = true;
    } catch (error) {
      if (signal.aborted) return;
      if (answers !== false) log.error('Container runtime sanity check failed', { err: error });
      answers = false;
    }
    tell();
  };

  const pause = (startedAt: number): number => {
    if (answers === true && report.runtimeProblem === undefined && report.networkProblem === undefined) return READY_MS;
    const isStarting = report.lastReadyAt === undefined || report.networkProblem !== undefined;
    return isStarting && clock.mono() - startedAt < STARTING_FOR_MS ? STARTING_MS : UNREADY_MS;
  };

  return {
    report: () => report,
    version: () => version,
    handlers: () => handlers,
    features: () => features,
    look,
    run: async (signal) => {
      const startedAt = clock.mono();
      const rest = () => clock.sleep(pause(startedAt), signal);
      await supervisor.run({ name: 'runtime state', restFirst: true, pass: look, rest }, signal);
    },
  };
}
