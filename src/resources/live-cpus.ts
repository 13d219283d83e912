/** The CPUs that containers run on now, as the kernel says: what is left to know them by where no usable record of them exists. */
import { parseCpuSet } from '../api/cpu-set.ts';
import type { Cgroups } from '../host/cgroups.ts';
import { type CgroupDriver, type CgroupName, cgroupPath, podUidOfDirectory } from './rules/cgroup-name.ts';

const DRIVERS: readonly CgroupDriver[] = ['cgroupfs', 'systemd'];

type CpuSet = ReadonlySet<number>;

export const cpusOfCgroup = (cgroups: Pick<Cgroups, 'read'>, path: string): CpuSet => {
  const cpus = parseCpuSet((cgroups.read(path, 'cpuset.cpus') ?? '').trim());
  return new Set(cpus.ok ? cpus.value : []);
};

/**
 * By UID of a guaranteed pod, which are directly below the cgroup of all pods: the CPUs of those of its containers that run on some CPUs only. Which driver made
 * the cgroups is not known at the start, so both forms are looked for.
 */
export async function findPinned(
  cgroups: Pick<Cgroups, 'children' | 'read'>,
  node: CgroupName,
  all: CpuSet,
): Promise<ReadonlyMap<string, CpuSet>> {
  const found = new Map<string, CpuSet>();
  for (const driver of DRIVERS) {
    const parent = cgroupPath(node, driver);
    for (const directory of await cgroups.children(parent)) {
      const uid = podUidOfDirectory(directory, driver);
      if (uid === undefined) continue;
      for (const container of await cgroups.children(`${parent}/${directory}`)) {
        const cpus = cpusOfCgroup(cgroups, `${parent}/${directory}/${container}`);
        if (cpus.size > 0 && cpus.size < all.size) found.set(uid, (found.get(uid) ?? new Set()).union(cpus));
      }
    }
  }
  return found;
}
