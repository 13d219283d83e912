/** Why a running container is stopped although its process has not ended. */
import type { Container } from '../api/container.ts';
import type { ObservedContainer } from '../model/observation.ts';
import type { Draft, StopRequest } from './draft.ts';
import type { Snapshot } from './snapshot.ts';

/** The container was created from another spec. One without a hash was not created by a kubelet: it is left as it is. */
export function hasChanged({ hashes }: Snapshot, container: ObservedContainer): boolean {
  const wanted = hashes.get(container.name);
  return wanted !== undefined && container.hash !== '' && container.hash !== wanted;
}

export function hasFailedHook({ memory }: Snapshot, container: ObservedContainer): boolean {
  return memory.get(container.name)?.failedHooks.has(container.id) ?? false;
}

export function stopAndStart(draft: Draft, container: Container, seen: ObservedContainer, request: StopRequest): void {
  draft.stop(seen, request);
  draft.start(container, request.message);
}
