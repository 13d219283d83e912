/** The public entry point: probes of containers, and lifecycle hooks. */
import type { PodUid } from '../api/ids.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { PodUpdateOf } from '../model/pod-view.ts';
import type { ProbeResults } from '../model/probe-results.ts';
import type { ProbeMetrics } from './active-probe.ts';
import { type CheckDeps, check } from './checks/check.ts';
import type { ExecSync } from './checks/exec.ts';
import { createExecLeftovers, noLeftovers, type ProcessesPort } from './checks/exec-leftovers.ts';
import { createHooks as createHookRunner, type Hooks, type HooksDeps } from './hooks.ts';
import { createProbing } from './probing.ts';
import type { ProbedView } from './rules/wanted.ts';
import { createVerdictFiles } from './verdict-files.ts';
import { createVerdicts } from './verdicts.ts';

export interface Probes extends Part {
  /**
   * To be called with what workers publish, before statuses are computed: verdicts from before a restart of the kubelet are then
   * there for the first status.
   */
  follow(update: ProbedUpdate): void;
  /** What the probes of this pod answered when they last failed, by the name of the container. */
  failures(uid: PodUid): readonly ProbeFailure[];
  /** By container id. Always the newest: read it for each decision. */
  results(): ProbeResults;
}

export interface ProbeFailure {
  readonly container: string;
  /** As in its event. */
  readonly message: string;
  /** Wall clock, ms. */
  readonly at: number;
}

export type ProbedUpdate = PodUpdateOf<keyof ProbedView>;

export interface ProbesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly record: RecordPodEvent;
  /** A verdict on a container of this pod has changed. */
  readonly wake: (uid: PodUid) => void;
  readonly execSync: ExecSync;
  /** `$(NAME)` in a command, filled in from the values that stand in the container's own `env`. */
  readonly expand: CheckDeps['expand'];
  /** The addresses of this node: those of pods that use its network. */
  readonly nodeIps: () => readonly string[];
  /** Where a pod's verdicts are kept over a restart. */
  readonly podDirectory: (uid: PodUid) => string;
  /** Where given, processes that a command leaves running at its timeout are killed. */
  readonly processes?: ProcessesPort | undefined;
  readonly metrics?: ProbeMetrics | undefined;
}

export interface ProbesConfig {
  /** Such as `v1.36.4`: checks call themselves by it. */
  readonly kubernetesVersion: string;
}

const NO_METRICS: ProbeMetrics = { observe: () => undefined, forget: () => undefined };

export function createProbes(deps: ProbesDeps, config: ProbesConfig): Probes {
  const { clock, log, processes, metrics = NO_METRICS, podDirectory } = deps;
  const checkDeps = {
    clock,
    execSync: deps.execSync,
    expand: deps.expand,
    leftovers: processes === undefined ? noLeftovers : createExecLeftovers(clock, processes),
    userAgent: userAgent('probe', config),
  };
  const failures = createFailures(deps);
  const verdicts = createVerdicts(createVerdictFiles((uid) => podDirectory(uid as PodUid), log));
  const probing = createProbing({
    clock,
    log,
    supervisor: deps.supervisor,
    verdicts,
    metrics,
    record: failures.record,
    wake: deps.wake,
    nodeIps: deps.nodeIps,
    check: (target, signal) => check(checkDeps, target, signal),
  });
  return {
    name: 'probes',
    start: probing.start,
    stop: probing.stop,
    follow: (update) => {
      if (update.kind === 'view') probing.follow(update.view);
      else {
        probing.forget(update.uid);
        failures.forget(update.uid);
      }
    },
    failures: failures.of,
    results: () => verdicts.results,
  };
}

export function createHooks(deps: Omit<HooksDeps, 'userAgent'>, config: ProbesConfig): Hooks {
  return createHookRunner({ ...deps, userAgent: userAgent('lifecycle', config) });
}

function userAgent(purpose: string, { kubernetesVersion }: ProbesConfig): string {
  const [, version = kubernetesVersion] = /^v?(\d+\.\d+)/.exec(kubernetesVersion) ?? [];
  return `kube-${purpose}/${version}`;
}

/** Long outputs are in the event. */
const LONGEST_SHOWN = 1000;

/** The last event about each container, for those who ask why it is not ready. */
function createFailures({ clock, record }: Pick<ProbesDeps, 'clock' | 'record'>) {
  const byPod = new Map<string, Map<string, ProbeFailure>>();
  return {
    record: ((event) => {
      const container = /\{(.+)\}$/.exec(event.container ?? '')?.[1] ?? '';
      const { uid } = event.pod;
      const failures = byPod.get(uid) ?? new Map<string, ProbeFailure>();
      failures.set(container, { container, message: event.message.slice(0, LONGEST_SHOWN), at: clock.now() });
      byPod.set(uid, failures);
      record(event);
    }) satisfies RecordPodEvent,
    of: (uid: PodUid): readonly ProbeFailure[] => [...(byPod.get(uid)?.values() ?? [])],
    forget: (uid: PodUid) => void byPod.delete(uid),
  };
}
