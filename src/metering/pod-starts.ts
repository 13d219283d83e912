/**
 * How long each step of a pod's start takes, as one histogram. Steps may overlap (an image is pulled while another container is
 * created) and leave gaps (a pod waits for its turn), so they need not add up to the whole. They are kept until the pod is
 * ready, or has ended before that, and then counted at once: a pod that never starts is in no step.
 */
import type { Pod } from '../api/pod.ts';
import type { PodStatus } from '../api/pod-status.ts';
import { CONFIG_SEEN } from '../api/pod-traits.ts';
import { parseTimestamp } from '../api/timestamp.ts';
import type { PodUpdateOf } from '../model/pod-view.ts';
import type { Histogram, Metrics } from '../telemetry/metrics.ts';

export type StartStep = 'seen' | 'admitted' | 'volumes' | 'sandbox' | 'pull' | 'create' | 'start' | 'ready';

export interface PodStarts {
  /** To be called with what workers publish. */
  follow(update: PodUpdateOf<'uid' | 'pod' | 'observation'>): void;
  /** So long was spent on a step of this pod's start; of several containers each counts. */
  spent(uid: string, step: StartStep, ms: number): void;
  /** To be called with each change of a status. */
  statusChanged(change: { readonly uid: string; readonly status: PodStatus; readonly final: boolean }): void;
}

/** A pod is in the map from its first view until it is gone. */
type Start =
  | {
      readonly kind: 'starting';
      readonly spent: ReadonlyMap<StartStep, number>;
      /** When its last container was started, wall clock, ms. */
      readonly lastStartAt: number | undefined;
    }
  /** Counted, or begun under an earlier kubelet. */
  | { readonly kind: 'over' };

const OVER: Start = { kind: 'over' };
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** `now`: wall clock, ms. */
export function createPodStarts(metrics: Metrics, now: () => number): PodStarts {
  const histogram = metrics.histogram({
    name: 'kubelet_ts_pod_start_step_duration_seconds',
    help: 'Seconds that pods spent on each step of their start, counted when they became ready or ended.',
    labels: ['step'],
    buckets: BUCKETS,
    stability: 'none',
  });
  const starts = new Map<string, Start>();
  return {
    follow: (update) => {
      if (update.kind === 'gone') starts.delete(update.uid);
      else if (!starts.has(update.view.uid)) {
        const { uid, pod, observation } = update.view;
        // A pod that has a sandbox already began under an earlier kubelet: its start can't be measured.
        starts.set(uid, observation.sandboxes.length > 0 ? OVER : beginning(pod, now()));
      }
    },
    spent: (uid, step, ms) => {
      const start = starts.get(uid);
      if (start?.kind !== 'starting') return;
      const spent = new Map(start.spent).set(step, (start.spent.get(step) ?? 0) + ms);
      starts.set(uid, { ...start, spent, lastStartAt: step === 'start' ? now() : start.lastStartAt });
    },
    statusChanged: ({ uid, status, final }) => {
      const start = starts.get(uid);
      const isReady = isPodReady(status);
      if (start?.kind !== 'starting' || !(isReady || final)) return;
      observe(histogram, start.spent);
      if (isReady && start.lastStartAt !== undefined) histogram.observe((now() - start.lastStartAt) / 1000, ['ready']);
      starts.set(uid, OVER);
    },
  };
}

function beginning({ metadata }: Pod, now: number): Start {
  const spent = new Map<StartStep, number>();
  const createdAt = parseTimestamp(metadata.creationTimestamp ?? '');
  const seenAt = parseTimestamp(metadata.annotations?.[CONFIG_SEEN] ?? '');
  // The API server dates objects by whole seconds and by its own clock.
  if (createdAt !== undefined && seenAt !== undefined) spent.set('seen', Math.max(seenAt - createdAt, 0));
  if (seenAt !== undefined) spent.set('admitted', Math.max(now - seenAt, 0));
  return { kind: 'starting', spent, lastStartAt: undefined };
}

function observe(histogram: Histogram, spent: ReadonlyMap<StartStep, number>): void {
  for (const [step, ms] of spent) histogram.observe(ms / 1000, [step]);
}

function isPodReady({ conditions = [] }: PodStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
