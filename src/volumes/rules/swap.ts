/** What users are told where secrets and other volumes in memory may end up on disk. */
import type { NodeEvent } from '../../model/event.ts';

/** On a node without swap nothing can: undefined. */
export function swappableEvent(swapAreas: readonly string[]): NodeEvent | undefined {
  if (swapAreas.length === 0) return undefined;
  return {
    node: true,
    type: 'Warning',
    reason: 'PossibleMemoryBackedVolumesOnDisk',
    message:
      'The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to disk and should no longer be considered secure.',
  };
}
