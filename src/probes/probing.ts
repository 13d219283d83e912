/**
 * Runs the probes of the pods that are here. It follows the published views, keeps one schedule for all probes, and hands out
 * verdicts; a changed verdict wakes the pod's worker, which decides what follows.
 */
import type { Container } from '../api/container.ts';
import { type ContainerId, type PodUid, podUid } from '../api/ids.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { ObservedContainer } from '../model/observation.ts';
import { type ActiveProbe, type ProbeMetrics, periodOf, recordOutcome, sampleOf } from './active-probe.ts';
import type { CheckTarget } from './checks/check.ts';
import { createDueQueue } from './due-queue.ts';
import { mayBeOurs, type Outcome } from './rules/outcome.ts';
import { firstRunAt, nextRunAt, placeOf } from './rules/timing.ts';
import { countFrom, countResult, type ProbeType } from './rules/verdict.ts';
import { containersWithProbes, type ProbedView, probedContainers, probeOf } from './rules/wanted.ts';
import { createStallWatch } from './stall-watch.ts';
import type { Verdicts } from './verdicts.ts';

export interface ProbingDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly check: (target: CheckTarget, signal: AbortSignal) => Promise<Outcome>;
  readonly verdicts: Verdicts;
  readonly record: RecordPodEvent;
  readonly wake: (uid: PodUid) => void;
  /** The addresses of pods that use the node's network. */
  readonly nodeIps: () => readonly string[];
  readonly metrics: ProbeMetrics;
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
  /** By type and container id. */
  readonly probes: Map<string, ActiveProbe>;
}

const keyOf = (type: ProbeType, id: ContainerId): string => `${type} ${id}`;

const NOT_WANTED = new CodedError('gone', 'the probe is not wanted any more');

export function createProbing(deps: ProbingDeps): Probing {
  const { clock, log, supervisor, verdicts } = deps;
  const bornAt = clock.now();
  const pods = new Map<string, ProbedPod>();
  const runs = new Set<Promise<void>>();
  /** How many probes of each period there have been: gives the next one its place. */
  const counters = new Map<number, number>();
  const stalls = createStallWatch(clock);
  const queue = createDueQueue<ActiveProbe>(clock, (probe, due) => {
    const hasBegun = supervisor.guard('probes', namesOf(probe), () => begin(probe, due));
    if (!hasBegun) queue.set(probe, clock.mono() + probe.periodMs);
  });

  const hasStarted = ({ view }: ProbedPod, container: Container, id: ContainerId): boolean => {
    if (container.startupProbe === undefined) return true;
    return (verdicts.get('startup', id) ?? verdicts.recall(view.pod, id, 'startup')) === 'success';
  };

  const nextPlace = (periodMs: number): number => {
    const index = counters.get(periodMs) ?? 0;
    counters.set(periodMs, index + 1);
    return placeOf(index);
  };

  const add = (pod: ProbedPod, container: Container, seen: ObservedContainer, type: ProbeType): void => {
    const spec = probeOf(container, type);
    if (spec === undefined) return;
    const inherited = seen.startedAt < bornAt;
    const known = verdicts.recall(pod.view.pod, seen.id, type);
    const periodMs = periodOf(container, type);
    const count = countFrom(type, known);
    const probe: ActiveProbe = {
      uid: podUid(pod.view.uid),
      type,
      id: seen.id,
      container,
      spec,
      periodMs,
      place: nextPlace(periodMs),
      count,
      paused: count.settled,
      underWay: undefined,
    };
    pod.probes.set(keyOf(type, seen.id), probe);
    verdicts.set(type, seen.id, known);
    if (probe.paused) return;
    const now = clock.mono();
    const first = firstRunAt({
      type,
      place: probe.place,
      periodMs,
      initialDelayMs: (spec.initialDelaySeconds ?? 0) * 1000,
      // By the wall clock, which may have been set since: a container can't have started in the future.
      containerStartedAt: now - Math.max(clock.now() - seen.startedAt, 0),
      now,
      inherited,
      known: known !== 'unknown',
      afterStartup: container.startupProbe !== undefined,
    });
    queue.set(probe, first);
  };

  const pause = (probe: ActiveProbe): void => {
    probe.paused = true;
    queue.delete(probe);
    probe.underWay?.abort(NOT_WANTED);
  };

  /** Makes the probes of a pod those that its view asks for. */
  const reconcile = (pod: ProbedPod): void => {
    const wanted = probedContainers(pod.view, (container, id) => hasStarted(pod, container, id));
    const alive = new Set(wanted.map(({ seen }) => seen.id));
    for (const [key, probe] of pod.probes) {
      if (alive.has(probe.id)) continue;
      pause(probe);
      pod.probes.delete(key);
      verdicts.forget(pod.view.uid, probe.id);
    }
    for (const { container, seen, run } of wanted) {
      for (const type of run) {
        if (!pod.probes.has(keyOf(type, seen.id))) add(pod, container, seen, type);
      }
      if (pod.view.step === 'syncing') continue;
      for (const probe of pod.probes.values()) {
        if (probe.id === seen.id && !run.includes(probe.type)) pause(probe);
      }
    }
  };

  const addressOf = ({ view }: ProbedPod, id: ContainerId): string | undefined => {
    const { containers, sandboxes } = view.observation;
    const seen = containers.find((container) => container.id === id);
    const sandbox = sandboxes.find((candidate) => candidate.id === seen?.sandboxId);
    return view.pod.spec.hostNetwork === true ? deps.nodeIps()[0] : sandbox?.ips[0];
  };

  const begin = (probe: ActiveProbe, due: number): void => {
    const run = runOnce(probe, due)
      .catch((error: unknown) => log.error('A probe could not be run', { err: error, ...namesOf(probe) }))
      .finally(() => runs.delete(run));
    runs.add(run);
  };

  const runOnce = async (probe: ActiveProbe, due: number): Promise<void> => {
    const pod = pods.get(probe.uid);
    if (pod === undefined) return;
    const own = new AbortController();
    probe.underWay = own;
    try {
      await checkAndCount(pod, probe, own.signal);
    } finally {
      probe.underWay = undefined;
      const { periodMs, place, type, count } = probe;
      const mayHurry = type === 'readiness' && count.verdict !== 'success';
      if (!probe.paused) queue.set(probe, nextRunAt({ due, now: clock.mono(), periodMs, place, mayHurry }));
    }
  };

  const checkAndCount = async (pod: ProbedPod, probe: ActiveProbe, signal: AbortSignal): Promise<void> => {
    const { spec, container, id } = probe;
    const began = clock.mono();
    using stall = stalls.begin();
    const target = { probe: spec, container, containerId: id, podIp: addressOf(pod, id) };
    let outcome: Outcome;
    try {
      outcome = await deps.check(target, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    if (signal.aborted) return;
    if (mayBeOurs(outcome) && stall.stalled()) {
      log.v(1)?.info('A probe failed while this process was held up: not counted', { ...namesOf(probe), outcome });
      return;
    }
    tell(pod, probe, outcome);
    if (outcome.kind === 'error') return;
    const result = outcome.kind === 'failure' ? 'failure' : 'success';
    deps.metrics.observe(sampleOf(probe, pod.view.pod, result, clock.mono() - began));
    const before = probe.count.verdict;
    probe.count = countResult(probe.type, spec, probe.count, result);
    probe.paused = probe.count.settled;
    if (probe.count.verdict !== before) await publish(pod, probe);
  };

  const tell = (pod: ProbedPod, probe: ActiveProbe, outcome: Outcome): void => {
    recordOutcome(deps.record, probe, pod.view.pod, outcome);
    const level = outcome.kind === 'failure' || outcome.kind === 'error' ? 1 : 3;
    log.v(level)?.info('Probe ran', { ...namesOf(probe), outcome });
  };

  const publish = async (pod: ProbedPod, { uid, type, id, count }: ActiveProbe): Promise<void> => {
    await verdicts.keep(uid, type, id, count.verdict);
    // The container may be gone by now.
    if (!pod.probes.has(keyOf(type, id)) || pods.get(uid) !== pod) return;
    verdicts.set(type, id, count.verdict);
    deps.wake(uid);
    if (type === 'startup') reconcile(pod);
  };

  const drop = (uid: string): void => {
    const pod = pods.get(uid);
    if (pod === undefined) return;
    for (const probe of pod.probes.values()) {
      pause(probe);
      verdicts.forget(uid, probe.id);
    }
    pods.delete(uid);
    deps.metrics.forget(uid);
  };

  return {
    follow: (view) => {
      const known = pods.get(view.uid);
      if (view.step === 'terminated') drop(view.uid);
      else if (known !== undefined) {
        known.view = view;
        reconcile(known);
      } else if (containersWithProbes(view.pod).length > 0) {
        const pod = { view, probes: new Map() };
        pods.set(view.uid, pod);
        reconcile(pod);
      }
    },
    forget: (uid) => {
      drop(uid);
      verdicts.forgetPod(uid);
    },
    start: (signal) => {
      signal.addEventListener(
        'abort',
        () => {
          for (const { probes } of pods.values()) for (const probe of probes.values()) pause(probe);
        },
        { once: true },
      );
      queue.start(signal);
    },
    stop: async () => {
      await Promise.all(runs);
    },
  };
}

function namesOf({ uid, container, type, id }: ActiveProbe) {
  return { podUID: uid, container: container.name, containerID: id, probe: type };
}
