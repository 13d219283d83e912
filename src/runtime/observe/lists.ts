/** The runtime's sandboxes and containers, listed at once and gathered by pod. */
import type { PodUid } from '../../api/ids.ts';
import type { FoundPod, PodIdentity } from '../../model/pod-identity.ts';
import {
  type Container,
  type ContainerFilter,
  type PodSandbox,
  type PodSandboxFilter,
  PodSandboxState,
} from '../../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../../wire/message.ts';
import { POD_UID } from '../spec/labels.ts';
import { runState, runtimePodOf } from './rules/reading.ts';

export interface ListCalls {
  readonly sandboxes: {
    list(filter: Init<PodSandboxFilter> | undefined, signal: AbortSignal): Promise<readonly PodSandbox[]>;
  };
  readonly containers: {
    list(filter: Init<ContainerFilter> | undefined, signal: AbortSignal): Promise<readonly Container[]>;
  };
}

export interface Listed {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

export interface ListedPod extends Listed {
  readonly pod: PodIdentity;
}

export const idsOf = ({ sandboxes, containers }: Listed): readonly string[] =>
  [...sandboxes, ...containers].map(({ id }) => id);

export function listPod(runtime: ListCalls, uid: PodUid, signal: AbortSignal): Promise<Listed> {
  return list(runtime, { labelSelector: { [POD_UID]: uid } }, signal);
}

/** Every pod that the runtime has something of. */
export async function listPods(runtime: ListCalls, signal: AbortSignal): Promise<ReadonlyMap<PodUid, ListedPod>> {
  const { sandboxes, containers } = await list(runtime, undefined, signal);
  const found = new Map<PodUid, { pod: PodIdentity; sandboxes: PodSandbox[]; containers: Container[] }>();
  const entryOf = (labels: Readonly<Record<string, string>>) => {
    const pod = runtimePodOf(labels);
    if (pod === undefined) return undefined;
    const entry = found.get(pod.uid) ?? { pod, sandboxes: [], containers: [] };
    found.set(pod.uid, entry);
    return entry;
  };
  for (const sandbox of sandboxes) entryOf(sandbox.labels)?.sandboxes.push(sandbox);
  for (const container of containers) entryOf(container.labels)?.containers.push(container);
  return found;
}

async function list(
  runtime: ListCalls,
  filter: { labelSelector: Record<string, string> } | undefined,
  signal: AbortSignal,
): Promise<Listed> {
  const [sandboxes, containers] = await Promise.all([
    runtime.sandboxes.list(filter, signal),
    runtime.containers.list(filter, signal),
  ]);
  return { sandboxes, containers };
}

export function foundPod({ pod, sandboxes, containers }: ListedPod): FoundPod {
  const alive =
    sandboxes.some(({ state }) => state === PodSandboxState.SANDBOX_READY) ||
    containers.some(({ state }) => runState(state) === 'running');
  return { ...pod, alive };
}
