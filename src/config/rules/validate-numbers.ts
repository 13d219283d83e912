import { formatDuration } from '../../api/duration.ts';
import { type Finding, type Findings, problem, warning } from './finding.ts';
import type { FieldOf, ValidationInput } from './validation-input.ts';

type Range = { readonly min: number; readonly max?: number };

const ranges: readonly (readonly [FieldOf<number>, Range])[] = [
  ['port', { min: 1, max: 65_535 }],
  ['readOnlyPort', { min: 0, max: 65_535 }],
  ['healthzPort', { min: 0, max: 65_535 }],
  ['nodeLeaseDurationSeconds', { min: 1 }],
  ['nodeStatusMaxImages', { min: -1 }],
  ['eventRecordQPS', { min: 0 }],
  ['eventBurst', { min: 0 }],
  ['kubeAPIQPS', { min: 0 }],
  ['kubeAPIBurst', { min: 0 }],
  ['registryPullQPS', { min: 0 }],
  ['registryBurst', { min: 0 }],
  ['imageGCHighThresholdPercent', { min: 0, max: 100 }],
  ['imageGCLowThresholdPercent', { min: 0, max: 100 }],
  ['iptablesMasqueradeBit', { min: 0, max: 31 }],
  ['iptablesDropBit', { min: 0, max: 31 }],
  ['maxOpenFiles', { min: 0 }],
  ['maxPods', { min: 0 }],
  ['podsPerCore', { min: 0 }],
  ['oomScoreAdj', { min: -1000, max: 1000 }],
  ['containerLogMaxFiles', { min: 2 }],
  ['containerLogMaxWorkers', { min: 1 }],
];

type DurationRule = {
  readonly field: FieldOf<number>;
  readonly min: number;
  readonly max?: number;
  /** The reference does not check it: only a warning. */
  readonly say: typeof problem | typeof warning;
};

const SMALLEST = 1e-6;
const durations: readonly DurationRule[] = [
  { field: 'syncFrequency', min: SMALLEST, say: problem },
  { field: 'containerLogMonitorInterval', min: 3000, say: problem },
  { field: 'imageMinimumGCAge', min: 0, say: problem },
  { field: 'imageMaximumGCAge', min: 0, say: problem },
  { field: 'fileCheckFrequency', min: SMALLEST, say: warning },
  { field: 'httpCheckFrequency', min: SMALLEST, say: warning },
  { field: 'streamingConnectionIdleTimeout', min: SMALLEST, say: warning },
  { field: 'nodeStatusUpdateFrequency', min: SMALLEST, say: warning },
  { field: 'nodeStatusReportFrequency', min: SMALLEST, say: warning },
  { field: 'cpuManagerReconcilePeriod', min: SMALLEST, say: warning },
  { field: 'runtimeRequestTimeout', min: SMALLEST, say: warning },
  { field: 'evictionPressureTransitionPeriod', min: 0, say: warning },
];

/** Numbers and durations whose range does not depend on other fields. */
export function* validateNumbers({ kubelet }: ValidationInput): Findings {
  for (const [field, range] of ranges) yield* inRange(field, kubelet[field], range);
  for (const { field, min, max = Number.POSITIVE_INFINITY, say } of durations) {
    const value = kubelet[field];
    if (value < min || value > max) yield say(field, formatDuration(value), describeDurations(min, max));
  }
  if (kubelet.evictionMaxPodGracePeriod < 0) {
    yield warning('evictionMaxPodGracePeriod', kubelet.evictionMaxPodGracePeriod, 'should not be negative');
  }
}

export function* inRange(path: string, value: number, range: Range): Iterable<Finding> {
  const max = range.max ?? Number.POSITIVE_INFINITY;
  if (value >= range.min && value <= max) return;
  yield problem(
    path,
    value,
    range.max === undefined ? `must be ${range.min} or more` : `must be between ${range.min} and ${max}`,
  );
}

function describeDurations(min: number, max: number): string {
  if (Number.isFinite(max)) return `must be between ${formatDuration(min)} and ${formatDuration(max)}`;
  if (min === SMALLEST) return 'must be greater than zero';
  return min === 0 ? 'must not be negative' : `must be ${formatDuration(min)} or more`;
}
