/** What the OOM watcher needs to know of pods and of the kernel, as the other parts have it. */
import type { CgroupHierarchy } from '../host/cgroup-mounts.ts';
import type { PodView } from '../model/pod-view.ts';
import { fieldPathOf } from '../plan/roles.ts';
import type { Resources } from '../resources/resources.ts';
import { parseMemoryCgroup, parseOomKills } from './rules/kernel-files.ts';
import type { OomPod } from './rules/owner.ts';

/** Killed by signal 9, as the runtime reports it. */
const KILLED = 137;

/** Nothing of a pod that has no cgroup. */
export function oomPod(
  { uid, pod, observation }: Pick<PodView, 'uid' | 'pod' | 'observation'>,
  resources: Pick<Resources, 'podCgroupParent' | 'containerCgroup'>,
): readonly OomPod[] {
  const cgroup = resources.podCgroupParent(pod);
  if (cgroup === '') return [];
  const { name, namespace } = pod.metadata;
  const containers = observation.containers.map((one) => ({
    id: one.id,
    name: one.name,
    cgroup: resources.containerCgroup(pod, one.id),
    fieldPath: fieldPathOf(pod, one.name),
    createdAt: one.createdAt,
    oomKilledAt: one.reason === 'OOMKilled' && one.exitCode === KILLED ? one.finishedAt : undefined,
  }));
  return [{ uid, name, namespace, cgroup, containers }];
}

/** Reads a file that the kernel makes; undefined where it is gone: cgroups and processes go while they are looked at. */
type ReadKernelFile = (path: string) => string | undefined;

/** Reads the kernel's count of kills in one cgroup. */
export function killCounter(
  hierarchies: readonly CgroupHierarchy[],
  read: ReadKernelFile,
): (cgroup: string) => number | undefined {
  const older = hierarchies.find(({ controllers }) => controllers.includes('memory'));
  const mountPoint = (older ?? hierarchies.find(({ version }) => version === 2))?.mountPoint;
  const file = older === undefined ? 'memory.events.local' : 'memory.oom_control';
  return (cgroup) => (mountPoint === undefined ? undefined : parseOomKills(read(`${mountPoint}${cgroup}/${file}`)));
}

/** The memory cgroup of a process that still runs. */
export function cgroupOfProcess(pid: number, read: ReadKernelFile): string | undefined {
  return parseMemoryCgroup(read(`/proc/${pid}/cgroup`));
}
