/** Cgroups in memory: a tree of names, each with the values that were written to its files. */
import type { Cgroups } from '../cgroups.ts';
import type { KernelFiles } from '../kernel-files.ts';
import type { HostCgroups } from '../ports.ts';

export interface SimulatedCgroups extends HostCgroups {
  /** Sorted. */
  paths(): readonly string[];
  /** What was written to a file, such as `cpu.weight`. */
  valueOf(path: string, file: string): string | undefined;
}

const MOUNT_POINT = '/simulated/cgroup';
const CONTROLLERS = ['cpu', 'cpuset', 'memory', 'pids', 'hugetlb'];

export function createSimulatedCgroups(): SimulatedCgroups {
  const groups = new Map<string, Map<string, string>>([['/', new Map()]]);
  const below = (path: string) => [...groups.keys()].filter((each) => each === path || each.startsWith(`${path}/`));
  const tree: Cgroups = {
    version: 2,
    controllers: () => Promise.resolve(new Set(CONTROLLERS)),
    exists: (path) => groups.has(path),
    create: (path) => {
      const names = path.split('/').filter((name) => name !== '');
      names.forEach((_, index) => {
        const each = `/${names.slice(0, index + 1).join('/')}`;
        if (!groups.has(each)) groups.set(each, new Map());
      });
    },
    write: (path, values) => {
      for (const { file, value } of values) groups.get(path)?.set(file, value);
      return [];
    },
    read: (path, file) => groups.get(path)?.get(file),
    memoryUsage: () => Promise.resolve(0n),
    enter: () => true,
    processes: () => Promise.resolve([]),
    children: (path) => {
      const prefix = path === '/' ? '/' : `${path}/`;
      const names = below(path === '/' ? '' : path).filter((each) => each.startsWith(prefix) && each !== path);
      return Promise.resolve([...new Set(names.map((each) => each.slice(prefix.length).split('/')[0] ?? ''))]);
    },
    kill: () => Promise.resolve(0),
    remove: (path) => {
      for (const each of below(path)) groups.delete(each);
      return Promise.resolve(true);
    },
  };
  return {
    version: () => 2,
    hierarchies: () => [{ version: 2, mountPoint: MOUNT_POINT, controllers: [] }],
    tree: () => tree,
    files: () => simulatedKernelFiles(groups),
    memoryEvents: { watch: () => ({ close: () => undefined }) },
    stallEvents: { watchMemory: () => ({ close: () => undefined }) },
    paths: () => [...groups.keys()].sort(),
    valueOf: (path, file) => groups.get(path)?.get(file),
  };
}

/** Files hold what was written to them; a simulated kernel counts nothing. */
function simulatedKernelFiles(groups: ReadonlyMap<string, ReadonlyMap<string, string>>): KernelFiles {
  const read = (path: string): string | undefined => {
    const at = path.lastIndexOf('/');
    const group = path.slice(0, at).replace(MOUNT_POINT, '');
    return groups.get(group === '' ? '/' : group)?.get(path.slice(at + 1));
  };
  return {
    read,
    open: (path) => (read(path) === undefined ? undefined : { read: () => read(path), close: () => undefined }),
    modifiedAt: () => undefined,
    // biome-ignore lint/correctness/useYield: there are no open files to count in steps
    openFiles: function* () {
      return undefined;
    },
  };
}
