/** What runs now, as the container runtime says when it is asked. */
import { type ContainerId, containerId, type PodUid, type SandboxId, sandboxId } from '../api/ids.ts';
import type { RunningPod } from '../model/pod-identity.ts';
import { ContainerState, PodSandboxState } from '../wire/gen/cri-runtime-v1.ts';
import type { CriClient } from './cri/client.ts';
import { sandboxIps } from './observe/rules/reading.ts';
import { CONTAINER_NAME, POD_NAME, POD_NAMESPACE, POD_UID } from './spec/labels.ts';

export interface Running {
  /** The newest running container of that name. */
  container(uid: PodUid, name: string, signal: AbortSignal): Promise<ContainerId | undefined>;
  /** The newest sandbox that is ready. */
  sandbox(uid: PodUid, signal: AbortSignal): Promise<SandboxId | undefined>;
  /** The addresses of a sandbox, the preferred one first. */
  sandboxIps(id: SandboxId, signal: AbortSignal): Promise<readonly string[]>;
  /** Every pod with a ready sandbox or a running container, also those that this kubelet did not start. */
  pods(signal: AbortSignal): Promise<readonly RunningPod[]>;
}

export type RunningRuntime = {
  readonly sandboxes: Pick<CriClient['sandboxes'], 'list' | 'status'>;
  readonly containers: Pick<CriClient['containers'], 'list'>;
};

export function createRunning({ sandboxes, containers }: RunningRuntime): Running {
  const ready = { state: PodSandboxState.SANDBOX_READY };
  const running = { state: ContainerState.CONTAINER_RUNNING };
  return {
    container: async (uid, name, signal) => {
      const labelSelector = { [POD_UID]: uid, [CONTAINER_NAME]: name };
      const newest = newestOf(await containers.list({ state: running, labelSelector }, signal));
      return newest && containerId(newest.id);
    },
    sandbox: async (uid, signal) => {
      const newest = newestOf(await sandboxes.list({ state: ready, labelSelector: { [POD_UID]: uid } }, signal));
      return newest && sandboxId(newest.id);
    },
    sandboxIps: async (id, signal) => sandboxIps((await sandboxes.status(id, {}, signal))?.status),
    pods: async (signal) => {
      const [pods, all] = await Promise.all([
        sandboxes.list({ state: ready }, signal),
        containers.list({ state: running }, signal),
      ]);
      return gatherPods(pods, all);
    },
  };
}

function newestOf<T extends { readonly createdAt: bigint }>(found: readonly T[]): T | undefined {
  return found.toSorted((one, other) => Number(other.createdAt - one.createdAt))[0];
}

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

function gatherPods(
  sandboxes: readonly Labelled[],
  containers: readonly (Labelled & {
    readonly image?: { readonly image: string } | undefined;
    readonly imageRef: string;
  })[],
): readonly RunningPod[] {
  const found = new Map<string, RunningPod & { containers: { name: string; image: string }[] }>();
  const podOf = (labels: Labelled['labels']) => {
    const uid = labels[POD_UID] ?? '';
    const known = found.get(uid) ?? {
      uid,
      name: labels[POD_NAME] ?? '',
      namespace: labels[POD_NAMESPACE] ?? '',
      containers: [],
    };
    found.set(uid, known);
    return known;
  };
  for (const { labels } of sandboxes) podOf(labels);
  for (const { labels, image, imageRef } of containers)
    podOf(labels).containers.push({ name: labels[CONTAINER_NAME] ?? '', image: image?.image || imageRef });
  return [...found.values()];
}
