/** Has a life come as far as the recorded one? A loaded machine takes longer for the same. */
import type { PodStatus } from '../../../src/api/pod-status.ts';
import type { RecordedEvent, RecordedLife } from '../lives.ts';

export interface Told {
  readonly events: readonly RecordedEvent[];
  readonly statuses: readonly PodStatus[];
}

/** Said only when the pod is taken away. */
const STOPPING = 'Stopping container ';
/** Each kubelet tells these at a pace of its own. */
const OWN_PACE: ReadonlySet<string> = new Set(['BackOff', 'DeadlineExceeded']);

/** Fewer events than were recorded before the end, or not yet over where the recorded pod was. */
export function isBehind(life: RecordedLife, { events, statuses }: Told): boolean {
  const settled = life.statuses.findLast(({ deleting }) => deleting !== true)?.status.phase;
  const over = settled === 'Succeeded' || settled === 'Failed';
  if (over && statuses.at(-1)?.phase !== settled) return true;
  const awaited = life.events.filter(({ reason, message }) => !message.startsWith(STOPPING) && !OWN_PACE.has(reason));
  return awaited.some(({ reason }) => countOf(events, reason) < countOf(awaited, reason));
}

function countOf(events: readonly RecordedEvent[], reason: string): number {
  return events.filter((event) => event.reason === reason).reduce((sum, { count = 1 }) => sum + count, 0);
}
