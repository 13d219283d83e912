/** Whose process was killed, and whose limit was reached. */
import type { Kill } from './kernel-report.ts';

export interface OomContainer {
  readonly id: string;
  readonly name: string;
  readonly cgroup: string;
  /** As events name it, such as `spec.containers{web}`. */
  readonly fieldPath: string;
  /** Wall clock, milliseconds. */
  readonly createdAt: number;
  /** The runtime says that it ended because memory was short. Wall clock, milliseconds. */
  readonly oomKilledAt: number | undefined;
}

export interface OomPod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly cgroup: string;
  /** Also those that ended, for as long as the runtime knows them. */
  readonly containers: readonly OomContainer[];
}

/** The cgroups above pods; undefined where pods have none of their own. */
export interface OomGroups {
  readonly pods: string;
  readonly classes: readonly string[];
}

/** Whose limit was reached. `unknown`: the kernel did not say. */
export type OomLevel = 'container' | 'pod' | 'class' | 'pods' | 'node' | 'unknown';

export interface Owner {
  readonly pod: OomPod;
  /** Undefined: not (yet) known, or none of the pod's containers but its sandbox. */
  readonly container: OomContainer | undefined;
  /** What comes before our own names of cgroups: not empty where the kubelet is in a cgroup namespace. */
  readonly prefix: string;
}

/** Undefined: no pod of this node. */
export function findOwner(cgroup: string, pods: readonly OomPod[]): Owner | undefined {
  for (const pod of pods) {
    const at = indexOfPath(cgroup, pod.cgroup);
    if (at === undefined) continue;
    const own = cgroup.slice(at);
    const container = pod.containers.find((one) => indexOfPath(own, one.cgroup) === 0);
    return { pod, container, prefix: cgroup.slice(0, at) };
  }
  return undefined;
}

/** Where `part` stands in `path` as whole names of directories. */
function indexOfPath(path: string, part: string): number | undefined {
  const at = part === '' || part === '/' ? -1 : path.indexOf(part);
  if (at < 0) return undefined;
  const next = path[at + part.length];
  return next === undefined || next === '/' ? at : undefined;
}

export function levelOf(
  kill: Pick<Kill, 'isGlobal' | 'limitedCgroup'>,
  owner: Owner,
  groups: OomGroups | undefined,
): OomLevel {
  if (kill.isGlobal) return 'node';
  const { limitedCgroup: limited } = kill;
  if (limited === undefined) return 'unknown';
  const { pod, container, prefix } = owner;
  if (!limited.startsWith(prefix)) return 'node'; // above all that this kubelet can see
  const path = limited.slice(prefix.length);
  if (container !== undefined && indexOfPath(path, container.cgroup) === 0) return 'container';
  if (path === pod.cgroup) return 'pod';
  if (groups?.classes.includes(path)) return 'class';
  if (path === groups?.pods) return 'pods';
  // A cgroup that a container made below its own, before the container is known.
  return path.startsWith(`${pod.cgroup}/`) ? 'container' : 'node';
}
