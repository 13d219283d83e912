/** One probe of one container while it is run, and what is reported of it. */

import type { Container } from '../api/container.ts';
import type { ContainerId, PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { LogValues } from '../base/logger.ts';
import type { RecordPodEvent } from '../model/event.ts';
import type { ProbeVerdict } from '../model/probe-results.ts';
import { fieldPathOf } from '../plan/roles.ts';
import { eventOf, type Outcome, probeTitle } from './rules/outcome.ts';
import type { NewProbe } from './rules/plan-probes.ts';
import { firstState, type ProbeState, type ProbeTraits } from './rules/probe-state.ts';
import { firstRunAt } from './rules/timing.ts';
import type { ProbeResult } from './rules/verdict.ts';
import { periodOf } from './rules/wanted.ts';

export interface ActiveProbe extends ProbeTraits {
  readonly uid: PodUid;
  readonly id: ContainerId;
  readonly container: Container;
  state: ProbeState;
}

export interface ProbeStart {
  /** What is known of the container from before. */
  readonly known: ProbeVerdict;
  readonly place: number;
  /** Wall clock, and when this kubelet began by it, ms. */
  readonly now: number;
  readonly bornAt: number;
  /** Monotonic, ms. */
  readonly mono: number;
}

/** `firstRun`: monotonic, ms; undefined for a probe that is settled already. */
export function newProbe(
  uid: PodUid,
  { type, container, seen, spec }: NewProbe,
  { known, place, now, bornAt, mono }: ProbeStart,
): { readonly probe: ActiveProbe; readonly firstRun: number | undefined } {
  const periodMs = periodOf(container, type);
  const state = firstState(type, known);
  const probe = { uid, type, id: seen.id, container, spec, periodMs, place, state };
  if (state.step !== 'waiting') return { probe, firstRun: undefined };
  const firstRun = firstRunAt({
    type,
    place,
    periodMs,
    known,
    now: mono,
    initialDelayMs: (spec.initialDelaySeconds ?? 0) * 1000,
    // By the wall clock, which may have been set since: a container can't have started in the future.
    containerStartedAt: mono - Math.max(now - seen.startedAt, 0),
    inherited: seen.startedAt < bornAt,
    afterStartup: container.startupProbe !== undefined,
  });
  return { probe, firstRun };
}

/** What `prober_probe_total` and `prober_probe_duration_seconds` are made of. */
export interface ProbeMetrics {
  observe(sample: ProbeSample): void;
  /** The pod is gone: its series can go. */
  forget(uid: string): void;
}

export interface ProbeSample {
  /** As the label has it: Liveness, Readiness, Startup. */
  readonly probeType: string;
  readonly result: 'successful' | 'failed';
  readonly uid: string;
  readonly pod: string;
  readonly namespace: string;
  readonly container: string;
  readonly seconds: number;
}

export function recordOutcome(
  record: RecordPodEvent,
  { type, container }: ActiveProbe,
  pod: Pod,
  outcome: Outcome,
): void {
  const event = eventOf(type, outcome);
  if (event !== undefined) record({ pod: pod.metadata, container: fieldPathOf(pod, container.name), ...event });
}

export function sampleOf(
  { type, container }: ActiveProbe,
  { metadata }: Pod,
  { result, ms }: { readonly result: ProbeResult; readonly ms: number },
): ProbeSample {
  return {
    probeType: probeTitle(type),
    result: result === 'success' ? 'successful' : 'failed',
    uid: metadata.uid,
    pod: metadata.name,
    namespace: metadata.namespace,
    container: container.name,
    seconds: ms / 1000,
  };
}

/** For the log. */
export function probeNames({ uid, container, type, id }: ActiveProbe): LogValues {
  return { probeType: probeTitle(type), podUID: uid, containerName: container.name, containerID: id };
}
