/**
 * Follows the published views and keeps, for each pod on this node, the probes that its view asks for. A changed verdict wakes the
 * pod's worker, which decides what follows.
 */
import type { Container } from '../api/container.ts';
import type { ContainerId, PodUid } from '../api/ids.ts';
import type { ProbeVerdict } from '../model/probe-results.ts';
import { type ActiveProbe, newProbe } from './active-probe.ts';
import { createProbeRuns, type ProbeRunsDeps } from './probe-runs.ts';
import { type NewProbe, planProbes } from './rules/plan-probes.ts';
import { placeOf } from './rules/timing.ts';
import { containersWithProbes, type ProbedView, periodOf } from './rules/wanted.ts';
import type { Verdicts } from './verdicts.ts';

export interface ProbingDeps extends ProbeRunsDeps {
  readonly verdicts: Verdicts;
  readonly wake: (uid: PodUid) => void;
}

export interface Probing {
  follow(view: ProbedView): void;
  forget(uid: string): void;
  start(signal: AbortSignal): void;
  /** Resolves when no check is under way any more. */
  stop(): Promise<void>;
}

interface ProbedPod {
  view: ProbedView;
  readonly probes: Set<ActiveProbe>;
}

export function createProbing(deps: ProbingDeps): Probing {
  const { clock, verdicts } = deps;
  const pods = new Map<string, ProbedPod>();
  const nextPlace = createPlaces();
  const bornAt = clock.now();

  const publish = async (probe: ActiveProbe, verdict: ProbeVerdict): Promise<void> => {
    const { uid, type, id } = probe;
    const pod = pods.get(uid);
    await verdicts.keep(uid, type, id, verdict);
    // The container may be gone by now.
    if (pod === undefined || !pod.probes.has(probe) || pods.get(uid) !== pod) return;
    verdicts.set(type, id, verdict);
    deps.wake(uid);
    if (type === 'startup') reconcile(pod);
  };
  const runs = createProbeRuns(deps, { viewOf: (uid) => pods.get(uid)?.view, publish });

  const begin = (pod: ProbedPod, one: NewProbe): void => {
    const { seen, type, container } = one;
    const known = verdicts.recall(pod.view.pod, seen.id, type);
    const place = nextPlace(periodOf(container, type));
    const times = { now: clock.now(), mono: clock.mono(), bornAt };
    const { probe, firstRun } = newProbe(pod.view.uid, one, { known, place, ...times });
    pod.probes.add(probe);
    verdicts.set(type, seen.id, known);
    if (firstRun !== undefined) runs.begin(probe, firstRun);
  };

  /** Makes the probes of a pod those that its view asks for. */
  const reconcile = (pod: ProbedPod): void => {
    const hasStarted = (container: Container, id: ContainerId): boolean => {
      if (container.startupProbe === undefined) return true;
      return (verdicts.get('startup', id) ?? verdicts.recall(pod.view.pod, id, 'startup')) === 'success';
    };
    const plan = planProbes(pod.view, [...pod.probes], hasStarted);
    for (const probe of plan.remove) remove(pod, probe);
    for (const one of plan.begin) begin(pod, one);
    plan.pause.forEach(runs.pause);
  };

  const remove = (pod: ProbedPod, probe: ActiveProbe): void => {
    runs.pause(probe);
    pod.probes.delete(probe);
    verdicts.forget(pod.view.uid, probe.id);
  };

  const removePod = (uid: string): void => {
    const pod = pods.get(uid);
    if (pod === undefined) return;
    for (const probe of pod.probes) remove(pod, probe);
    pods.delete(uid);
    deps.metrics.forget(uid);
  };

  const follow = (view: ProbedView): void => {
    const known = pods.get(view.uid);
    if (view.step === 'terminated') {
      removePod(view.uid);
      return;
    }
    if (known === undefined && containersWithProbes(view.pod).length === 0) return;
    const pod = known ?? { view, probes: new Set() };
    pod.view = view;
    pods.set(view.uid, pod);
    reconcile(pod);
  };

  return {
    follow,
    forget: (uid) => {
      removePod(uid);
      verdicts.forgetPod(uid);
    },
    start: (signal) => {
      const pauseAll = () => {
        for (const { probes } of pods.values()) probes.forEach(runs.pause);
      };
      signal.addEventListener('abort', pauseAll, { once: true });
      runs.start(signal);
    },
    stop: runs.stop,
  };
}

/** Gives each probe of a period its place among them. */
function createPlaces(): (periodMs: number) => number {
  const counts = new Map<number, number>();
  return (periodMs) => {
    const index = counts.get(periodMs) ?? 0;
    counts.set(periodMs, index + 1);
    return placeOf(index);
  };
}
