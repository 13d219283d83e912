/** The texts of events about volumes, as tools and people know them. */
import { quoteText } from '../../base/go-text.ts';
import type { Obstacle, WorkStage } from './volume-state.ts';

/** The reference kubelet distinguishes three operations: the device attached, the device mounted for all pods, the volume mounted for one. */
const ATTACH = { reason: 'FailedAttachVolume', operation: 'AttachVolume.Attach' };
const MOUNT_DEVICE = { reason: 'FailedMount', operation: 'MountVolume.MountDevice' };
const SET_UP = { reason: 'FailedMount', operation: 'MountVolume.SetUp' };

function operationOf(stage: WorkStage): { readonly reason: string; readonly operation: string } {
  if (stage === 'attach') return ATTACH;
  return stage === 'mount-device' ? MOUNT_DEVICE : SET_UP;
}

/** The event about a try without success; undefined for a wait that is part of the normal course. */
export function volumeFailed(
  volume: string,
  { stage, outcome, message }: Pick<Obstacle, 'stage' | 'outcome' | 'message'>,
): { readonly reason: string; readonly message: string } | undefined {
  if (outcome === 'waiting' && (stage === 'attach' || stage === 'resolve')) return undefined;
  const { reason, operation } = operationOf(stage);
  return { reason, message: `${operation} failed for volume ${quoteText(volume)} : ${message}` };
}

export interface UnreadyVolumes {
  readonly unmounted: readonly string[];
  readonly unattached: readonly string[];
  /** Not resolved. */
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
