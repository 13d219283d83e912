/** The words of events about volumes, as tools and people know them. */
import { quoteText } from '../../base/go-text.ts';

export function setUpFailed(volume: string, message: string): string {
  return `MountVolume.SetUp failed for volume ${quoteText(volume)} : ${message}`;
}

export interface UnreadyVolumes {
  readonly unmounted: readonly string[];
  readonly unattached: readonly string[];
  /** No kind of volume here knows them. */
  readonly unprocessed: readonly string[];
  readonly reason: string;
}

export function volumesNotReady({ unmounted, unattached, unprocessed, reason }: UnreadyVolumes): string {
  const list = (names: readonly string[]) => `[${names.toSorted().join(' ')}]`;
  const lists = `unmounted volumes=${list(unmounted)}, unattached volumes=${list(unattached)}, failed to process volumes=${list(unprocessed)}`;
  return `Unable to attach or mount volumes: ${lists}: ${reason}`;
}

export function groupChangeIsSlow(place: string): string {
  const link =
    'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods';
  return `Setting volume ownership for ${place} is taking longer than expected, consider using OnRootMismatch - ${link}`;
}

export function groupChangeProgress(place: string, files: number): string {
  return `Setting volume ownership for ${place}, processed ${files} files.`;
}
