/** Termination messages share a limit for the whole pod, so that a status stays small. */
import type { Pod } from '../../api/pod.ts';
import type { ContainerState, ContainerStatus } from '../../api/pod-status.ts';
import { allContainers } from '../../api/pod-traits.ts';

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
  const { terminated } = state;
  // A character has at most three bytes for each unit of its text.
  if (terminated?.message === undefined || terminated.message.length * 3 <= limit) return state;
  const bytes = new TextEncoder().encode(terminated.message);
  if (bytes.length <= limit) return state;
  // In streaming mode a character that was cut in two is left out.
  const message = new TextDecoder().decode(bytes.subarray(0, limit), { stream: true });
  return { terminated: { ...terminated, message } };
}
