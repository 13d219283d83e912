import { formatDuration } from '../../api/duration.ts';
import { type Findings, problem, warning } from './finding.ts';
import type { ValidationInput } from './validation-input.ts';

const periods = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'] as const;

export function* validateShutdown(input: ValidationInput): Findings {
  yield* validatePeriods(input);
  yield* validateByPriority(input);
}

function* validatePeriods({ kubelet, features }: ValidationInput): Findings {
  if (!features.enabled('GracefulNodeShutdown')) {
    for (const field of periods) {
      if (kubelet[field] > 0) {
        yield problem(field, formatDuration(kubelet[field]), 'needs the feature gate GracefulNodeShutdown');
      }
    }
    return;
  }
  for (const field of periods) {
    const period = kubelet[field];
    if (period !== 0 && period < 1000) yield problem(field, formatDuration(period), 'must be zero, or 1s or more');
  }
  const { shutdownGracePeriod: whole, shutdownGracePeriodCriticalPods: critical } = kubelet;
  if (critical > whole) {
    const rule = `must be at most shutdownGracePeriod (${formatDuration(whole)}), of which it is a part`;
    yield problem('shutdownGracePeriodCriticalPods', formatDuration(critical), rule);
  }
}

function* validateByPriority({ kubelet, features }: ValidationInput): Findings {
  const entries = kubelet.shutdownGracePeriodByPodPriority;
  if (entries.length === 0) return;
  const path = 'shutdownGracePeriodByPodPriority';
  if (!features.enabled('GracefulNodeShutdownBasedOnPodPriority')) {
    yield problem(path, entries, 'needs the feature gate GracefulNodeShutdownBasedOnPodPriority');
  } else {
    const other = periods.find((field) => kubelet[field] > 0);
    if (other !== undefined) yield problem(path, entries, `can't be used together with ${other}`);
  }
  const seen = new Set<number>();
  for (const [index, { priority, shutdownGracePeriodSeconds: seconds }] of entries.entries()) {
    if (seen.has(priority)) yield warning(`${path}[${index}].priority`, priority, 'is listed twice');
    seen.add(priority);
    if (seconds < 0) yield warning(`${path}[${index}].shutdownGracePeriodSeconds`, seconds, 'should not be negative');
  }
}
