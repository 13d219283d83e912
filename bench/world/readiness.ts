/** How soon the API server reports that a pod is ready, or no longer. */
import type { ApiObject } from '../../tests/lab/cluster/api.ts';
import type { Flip } from './readiness-main.ts';

/** What the API server's watch reported of a pod, and when: wall clock, milliseconds. */
export interface Reported {
  readonly pod: string;
  readonly ready: boolean;
  readonly at: number;
}

/** Flips as the lines of a server's log have them; the last line may be half written. */
export function parseFlips(log: string): readonly Flip[] {
  const lines = log.slice(0, log.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Flip);
}

/**
 * From each flip of a probe to the moment that the watch reported it. A flip that was never reported before the next one of the same pod took
 * until then at least. The last flips of each pod are left out where nothing was reported of them yet.
 */
export function timesToReported(flips: readonly Flip[], reports: readonly Reported[]): readonly number[] {
  return flips.flatMap((flip) => {
    const isLater = ({ pod, at }: Reported) => pod === flip.pod && at > flip.at;
    const next = flips.find(isLater);
    const answer = reports.find((one) => isLater({ ...one, at: one.at + 1 }) && one.ready === flip.ready);
    if (answer !== undefined && (next === undefined || answer.at <= next.at)) return [answer.at - flip.at];
    return next === undefined ? [] : [next.at - flip.at];
  });
}

interface PodStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

export function isReady({ status }: ApiObject): boolean {
  const { conditions = [] } = (status ?? {}) as PodStatus;
  return conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
}
