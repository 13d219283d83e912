/** One probe of one container while it is looked after, and what it is told to others. */

import type { Container, Probe } from '../api/container.ts';
import type { ContainerId, PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { RecordPodEvent } from '../model/event.ts';
import { fieldPathOf } from '../plan/roles.ts';
import { eventOf, type Outcome, probeTitle } from './rules/outcome.ts';
import type { Count, ProbeType } from './rules/verdict.ts';
import { probeOf } from './rules/wanted.ts';

export interface ActiveProbe {
  readonly uid: PodUid;
  readonly type: ProbeType;
  readonly id: ContainerId;
  readonly container: Container;
  readonly spec: Probe;
  readonly periodMs: number;
  /** Its place within the period: see rules/timing.ts. */
  readonly place: number;
  count: Count;
  /** Not to be asked now: settled, or the pod ends. */
  paused: boolean;
  /** Aborts the check under way. */
  underWay: AbortController | undefined;
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

const DEFAULT_PERIOD_SECONDS = 10;

export function periodOf(container: Container, type: ProbeType): number {
  return (probeOf(container, type)?.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
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
  result: 'success' | 'failure',
  ms: number,
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
