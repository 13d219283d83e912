/**
 * What the runtime has of one pod, read at one moment. Made by runtime/observe, read by the plan, the status and the probes.
 * Times are milliseconds since 1970; 0 stands for "never".
 */
import type { ContainerId, PodUid, SandboxId } from '../api/ids.ts';
import type { StringMap } from '../api/meta.ts';

export interface ObservedSandbox {
  readonly id: SandboxId;
  readonly attempt: number;
  readonly ready: boolean;
  readonly createdAt: number;
  readonly hostNetwork: boolean;
  /** Empty with host network, and while the runtime has not reported them. */
  readonly ips: readonly string[];
  readonly runtimeHandler: string;
}

export type ContainerRunState = 'created' | 'running' | 'exited' | 'unknown';

export interface ObservedContainer {
  readonly id: ContainerId;
  readonly sandboxId: SandboxId;
  readonly name: string;
  readonly state: ContainerRunState;
  readonly createdAt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  /** As the runtime reports it: Completed, Error, OOMKilled, ContainerCannotRun, StartError… */
  readonly reason: string;
  readonly message: string;
  /** The image as the pod named it, and what the runtime resolved it to. */
  readonly image: string;
  readonly imageId: string;
  readonly imageRef: string;
  /** Hash of the container's spec when it was made, in the reference's form; empty where the annotation is missing. */
  readonly hash: string;
  readonly restartCount: number;
  readonly annotations: StringMap;
  readonly logPath: string;
  readonly user: { readonly uid: number; readonly gid: number; readonly groups: readonly number[] } | undefined;
  readonly stopSignal: string;
  /** The limits that the runtime enforces; undefined where it does not report them. */
  readonly resources?: ObservedResources | undefined;
}

/** In the kernel's units; 0 stands for none. */
export interface ObservedResources {
  readonly cpuShares: number;
  /** Microseconds in each period, and the period. */
  readonly cpuQuota: number;
  readonly cpuPeriod: number;
  /** Bytes. */
  readonly memoryLimit: number;
}

/** The end of a container as an event announced it, some 50 ms before the runtime's status shows it. */
export interface AnnouncedEnd {
  readonly exitCode: number;
  readonly finishedAt: number;
}

export interface Observation {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** Monotonic time at which the reading began: nothing that happened before it is missing. */
  readonly takenAt: number;
  /** Newest first. */
  readonly sandboxes: readonly ObservedSandbox[];
  /** Newest first; exited ones included for as long as the runtime has them. */
  readonly containers: readonly ObservedContainer[];
  /** Of containers that the runtime still reports as running: only a plan may use it (see plan/plan-ahead.ts). */
  readonly announced?: ReadonlyMap<ContainerId, AnnouncedEnd>;
  /** Events are ahead of this reading: when to read again, wall clock, in case no event shows that the status has caught up. */
  readonly lookAgainAt?: number;
}

export const emptyObservation = (uid: PodUid, name: string, namespace: string, takenAt: number): Observation => ({
  uid,
  name,
  namespace,
  takenAt,
  sandboxes: [],
  containers: [],
});

/** The newest container of that name, or undefined. */
export function newestContainer(observation: Observation, name: string): ObservedContainer | undefined {
  return observation.containers.find((container) => container.name === name);
}

/** The newest container of each name, for callers that need many of them: a pod may have thousands. */
export function newestContainers({
  containers,
}: Pick<Observation, 'containers'>): ReadonlyMap<string, ObservedContainer> {
  const newest = new Map<string, ObservedContainer>();
  for (const container of containers) if (!newest.has(container.name)) newest.set(container.name, container);
  return newest;
}

/** The container that counts for that name: one that may run comes before one that has ended, then the newest. */
export function presentContainer(
  { containers }: Pick<Observation, 'containers'>,
  name: string,
): ObservedContainer | undefined {
  let newest: ObservedContainer | undefined;
  // No list of all with that name is made: a pod may have thousands of containers, and this is called for each.
  for (const container of containers) {
    if (container.name !== name) continue;
    if (container.state === 'running' || container.state === 'unknown') return container;
    newest ??= container;
  }
  return newest;
}
