/** A runtime whose containers can't be listed: its pods are not managed. */
import { formatDuration } from '../../api/duration.ts';

export const RELIST_THRESHOLD_MS = 3 * 60_000;

export function relistProblems(sinceRelistMs: number): readonly string[] {
  if (sinceRelistMs <= RELIST_THRESHOLD_MS) return [];
  const ago = formatDuration(sinceRelistMs);
  const threshold = formatDuration(RELIST_THRESHOLD_MS);
  return [`PLEG is not healthy: pleg was last seen active ${ago} ago; threshold is ${threshold}`];
}
