/** Messages of containers share a limit for the whole pod, so that a status stays small however long the messages of containers and registries are. */
import type { Pod } from '../../api/pod.ts';
import type { ContainerState, ContainerStatus } from '../../api/pod-status.ts';
import { allContainers } from '../../api/pod-traits.ts';
import { truncateUtf8 } from '../../base/truncate.ts';

/** Bytes, for all containers of a pod together. */
const LARGEST_TOTAL = 12 * 1024;

export function shortenMessages(pod: Pod, statuses: readonly ContainerStatus[]): readonly ContainerStatus[] {
  const limit = Math.floor(LARGEST_TOTAL / Math.max(1, allContainers(pod).length));
  return statuses.map((status) => ({
    ...status,
    state: shorten(status.state, limit),
    lastState: shorten(status.lastState, limit),
  }));
}

function shorten(state: ContainerState, limit: number): ContainerState {
  const { terminated, waiting } = state;
  if (terminated?.message !== undefined)
    return { terminated: { ...terminated, message: truncateUtf8(terminated.message, limit) } };
  if (waiting?.message !== undefined) return { waiting: { ...waiting, message: truncateUtf8(waiting.message, limit) } };
  return state;
}
