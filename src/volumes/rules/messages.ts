/** The words of events about volumes, as tools and people know them. */
import { quoteText } from '../../base/go-text.ts';

/** What was done for a volume when it failed: its device attached, its device mounted for all pods, the volume mounted for one. */
export type VolumeStage = 'attach' | 'stage' | 'set-up';

const STAGES: Readonly<Record<VolumeStage, { readonly reason: string; readonly words: string }>> = {
  attach: { reason: 'FailedAttachVolume', words: 'AttachVolume.Attach' },
  stage: { reason: 'FailedMount', words: 'MountVolume.MountDevice' },
  'set-up': { reason: 'FailedMount', words: 'MountVolume.SetUp' },
};

export function volumeFailed(
  stage: VolumeStage,
  volume: string,
  message: string,
): { readonly reason: string; readonly message: string } {
  const { reason, words } = STAGES[stage];
  return { reason, message: `${words} failed for volume ${quoteText(volume)} : ${message}` };
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
