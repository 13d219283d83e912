/** Runs probes when they are due, and carries out what `rules/probe-state.ts` decides. One timer serves all probes. */
import type { ContainerId } from '../api/ids.ts';
import { podTitle } from '../api/pod-traits.ts';
import { assertNever } from '../base/assert-never.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { ProbeVerdict } from '../model/probe-results.ts';
import { type ActiveProbe, type ProbeMetrics, probeNames, recordOutcome, sampleOf } from './active-probe.ts';
import type { CheckTarget } from './checks/check.ts';
import { createDueQueue } from './due-queue.ts';
import { logLineOf, type Outcome } from './rules/outcome.ts';
import { nextProbe, type ProbeEffect, type ProbeInput } from './rules/probe-state.ts';
import type { ProbedView } from './rules/wanted.ts';
import { createStallWatch } from './stall-watch.ts';

export interface ProbeRunsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'guard'>;
  readonly check: (target: CheckTarget, signal: AbortSignal) => Promise<Outcome>;
  readonly record: RecordPodEvent;
  /** The addresses of pods that use the node's network. */
  readonly nodeIps: () => readonly string[];
  readonly metrics: ProbeMetrics;
}

export interface ProbeRunsTools {
  /** The latest view of a pod that is probed. */
  readonly viewOf: (uid: string) => ProbedView | undefined;
  /** Resolves when others see the verdict. */
  readonly publish: (probe: ActiveProbe, verdict: ProbeVerdict) => Promise<void>;
}

export interface ProbeRuns {
  /** The first run of a probe: monotonic, ms. */
  begin(probe: ActiveProbe, at: number): void;
  /** It is not run any more, and a check under way is aborted. */
  pause(probe: ActiveProbe): void;
  start(signal: AbortSignal): void;
  /** Resolves when no check is under way any more. */
  stop(): Promise<void>;
}

const NOT_WANTED = new CodedError('gone', 'the probe is not wanted any more');

export function createProbeRuns(deps: ProbeRunsDeps, tools: ProbeRunsTools): ProbeRuns {
  const { clock, log, supervisor } = deps;
  const checks = new Map<ActiveProbe, AbortController>();
  const underWay = new Set<Promise<void>>();
  const queue = createDueQueue<ActiveProbe>(clock, (probe, due) => {
    const hasBegun = supervisor.guard('probes', probeNames(probe), () => void send(probe, { kind: 'due', due }));
    if (!hasBegun) queue.set(probe, clock.mono() + probe.periodMs);
  });
  const report = createReport(deps, tools);
  const observe = createObserve(deps, tools);

  /** Resolves when all that follows is done. */
  const send = (probe: ActiveProbe, input: ProbeInput): Promise<unknown> => {
    const { state, effects } = nextProbe(probe.state, input, probe);
    probe.state = state;
    return Promise.all(effects.map((effect) => carryOut(probe, effect)));
  };

  const carryOut = (probe: ActiveProbe, effect: ProbeEffect): Promise<void> | undefined => {
    switch (effect.kind) {
      case 'check':
        begin(probe);
        return undefined;
      case 'cancel':
        queue.delete(probe);
        checks.get(probe)?.abort(NOT_WANTED);
        return undefined;
      case 'run-at':
        queue.set(probe, effect.time);
        return undefined;
      case 'publish':
        return tools.publish(probe, effect.verdict);
      case 'ignore':
      case 'report':
      case 'count':
        report(probe, effect);
        return undefined;
      default:
        return assertNever(effect);
    }
  };

  const begin = (probe: ActiveProbe): void => {
    const run = check(probe)
      .catch((error: unknown) => log.error('Failed to run a probe', { ...probeNames(probe), err: error }))
      .finally(() => underWay.delete(run));
    underWay.add(run);
  };

  const check = async (probe: ActiveProbe): Promise<void> => {
    const own = new AbortController();
    checks.set(probe, own);
    try {
      const outcome = await observe(probe, own.signal);
      if (outcome !== undefined) await send(probe, outcome);
    } finally {
      checks.delete(probe);
      void send(probe, { kind: 'done', now: clock.mono() });
    }
  };

  return {
    begin: (probe, at) => queue.set(probe, at),
    pause: (probe) => void send(probe, { kind: 'pause' }),
    start: queue.start,
    stop: async () => {
      await Promise.all(underWay);
    },
  };
}

type OutcomeInput = Extract<ProbeInput, { kind: 'outcome' }>;

/** Runs one check; undefined where it was aborted. */
function createObserve({ clock, check, nodeIps }: ProbeRunsDeps, { viewOf }: ProbeRunsTools) {
  const stalls = createStallWatch(clock);
  return async (probe: ActiveProbe, signal: AbortSignal): Promise<OutcomeInput | undefined> => {
    const view = viewOf(probe.uid);
    if (view === undefined) return undefined;
    const { spec, container, id } = probe;
    const podIp = view.pod.spec.hostNetwork === true ? nodeIps()[0] : sandboxIp(view, id);
    const began = clock.mono();
    using stall = stalls.begin();
    try {
      const outcome = await check({ probe: spec, container, containerId: id, podIp }, signal);
      if (signal.aborted) return undefined;
      return { kind: 'outcome', outcome, stalled: stall.stalled(), ms: clock.mono() - began };
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  };
}

function sandboxIp({ observation: { containers, sandboxes } }: ProbedView, id: ContainerId): string | undefined {
  const seen = containers.find((container) => container.id === id);
  return sandboxes.find((sandbox) => sandbox.id === seen?.sandboxId)?.ips[0];
}

type ReportEffect = Extract<ProbeEffect, { kind: 'ignore' | 'report' | 'count' }>;

function createReport({ log, record, metrics }: ProbeRunsDeps, { viewOf }: ProbeRunsTools) {
  return (probe: ActiveProbe, effect: ReportEffect): void => {
    const view = viewOf(probe.uid);
    if (view === undefined) return;
    if (effect.kind === 'count') {
      metrics.observe(sampleOf(probe, view.pod, effect));
      return;
    }
    const { outcome } = effect;
    if (effect.kind === 'ignore') {
      const message = 'Ignored a failed probe: the kubelet itself did not get to run meanwhile';
      log.v(1)?.info(message, { ...probeNames(probe), outcome });
      return;
    }
    recordOutcome(record, probe, view.pod, outcome);
    const { level, message } = logLineOf(outcome);
    log.v(level)?.info(message, { pod: podTitle(view.pod), ...probeNames(probe), outcome });
  };
}
