/** The cgroups of a node with systemd as they are seen on the machine: values in files, and properties of units. */

/** By file or property. */
export type Values = Readonly<Record<string, string>>;
export interface CgroupTree {
  /** By path of the cgroup, with `UID` for the UID of a pod and the name of a container for its id. */
  readonly files: Readonly<Record<string, Values>>;
  /** By unit, with the same names. */
  readonly units: Readonly<Record<string, Values>>;
}

const PROPERTIES = [
  ...['ActiveState', 'Transient', 'DefaultDependencies', 'Description', 'Wants', 'Slice', 'Delegate'],
  ...['CPUAccounting', 'MemoryAccounting', 'TasksAccounting', 'IOAccounting', 'BlockIOAccounting'],
  ...['CPUShares', 'CPUWeight', 'CPUQuotaPerSecUSec', 'CPUQuotaPeriodUSec', 'AllowedCPUs', 'AllowedMemoryNodes'],
  ...['MemoryLimit', 'MemoryMax', 'MemoryHigh', 'MemoryLow', 'MemoryMin', 'MemorySwapMax', 'TasksMax'],
] as const;
const FILES = [
  ...['cpu.shares', 'cpu.cfs_quota_us', 'cpu.cfs_period_us', 'cpu.weight', 'cpu.max', 'cpuset.cpus'],
  ...['memory.limit_in_bytes', 'memory.max', 'memory.high', 'memory.low', 'memory.min', 'memory.swap.max', 'pids.max'],
  ...['hugetlb.2MB.max', 'hugetlb.2MB.rsvd.max'],
] as const;

/** Prints one line for each value of the cgroups below these paths, then one block for each unit. */
export function treeScript(paths: readonly string[], units: readonly string[]): string {
  const hierarchies =
    '/sys/fs/cgroup /sys/fs/cgroup/cpu /sys/fs/cgroup/memory /sys/fs/cgroup/pids /sys/fs/cgroup/cpuset';
  return `
for hierarchy in ${hierarchies}; do for path in ${paths.join(' ')}; do
  [ -d $hierarchy$path ] || continue
  for directory in $(find $hierarchy$path -type d); do for file in ${FILES.join(' ')}; do
    [ -f $directory/$file ] && echo "file \${directory#$hierarchy} $file $(cat $directory/$file)"
  done; done
done; done
found=$(systemctl list-units --all --plain --no-legend 'kubepods*.slice' | cut -d' ' -f1)
for unit in ${units.join(' ')} $found; do echo "unit $unit"; systemctl show $unit ${PROPERTIES.map((name) => `-p ${name}`).join(' ')}; done
true`;
}

/** `names` has what stands for UIDs and ids. */
export function parseTree(text: string, names: ReadonlyMap<string, string>): CgroupTree {
  const files: Record<string, Record<string, string>> = {};
  const units: Record<string, Record<string, string>> = {};
  let unit: Record<string, string> = {};
  for (const line of replaceAll(text, names).split('\n')) {
    const [kind, name = '', file = '', ...value] = line.split(' ');
    if (kind === 'file') {
      // How many processes systemd allows in a scope depends on the machine, and is not the kubelet's.
      if (name.endsWith('.scope') && file === 'pids.max') continue;
      files[name] ??= {};
      files[name][file] = value.join(' ');
    } else if (kind === 'unit') {
      unit = units[name] ??= {};
    } else if (line.includes('=')) {
      unit[line.slice(0, line.indexOf('='))] = line.slice(line.indexOf('=') + 1);
    }
  }
  return { files, units };
}

function replaceAll(text: string, names: ReadonlyMap<string, string>): string {
  let replaced = text;
  for (const [from, to] of names) {
    replaced = replaced.replaceAll(from, to).replaceAll(from.replaceAll('-', '_'), to);
  }
  return replaced;
}
