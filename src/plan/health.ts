/** What ends a running container although its process goes on. */
import type { Container } from '../api/container.ts';
import type { ObservedContainer } from '../model/observation.ts';
import type { Draft, StopRequest } from './draft.ts';
import type { Snapshot } from './snapshot.ts';

/** The container was made from another description. One without a hash was made by somebody else: it is left alone. */
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
