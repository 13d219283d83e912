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

/** Prints `path:value` for each file of the cgroups below these paths, then the properties of each unit. Few processes: a guest is slow. */
export function treeScript(paths: readonly string[], units: readonly string[]): string {
  const hierarchies = ['', '/cpu', '/memory', '/pids', '/cpuset'].map((name) => `/sys/fs/cgroup${name}`);
  const named = FILES.map((file) => `-name ${file}`).join(' -o ');
  return `
for hierarchy in ${hierarchies.join(' ')}; do
  cd $hierarchy
  for path in ${paths.map((path) => `.${path}`).join(' ')}; do
    if [ -d $path ]; then find $path -type f \\( ${named} \\) -exec grep -H '' {} +; fi
  done
done
found=$(systemctl list-units --all --plain --no-legend 'kubepods*.slice' | cut -d' ' -f1)
systemctl show -p Id ${PROPERTIES.map((name) => `-p ${name}`).join(' ')} ${units.join(' ')} $found`;
}

/** `names` has what stands for UIDs and ids. */
export function parseTree(text: string, names: ReadonlyMap<string, string>): CgroupTree {
  const files: Record<string, Record<string, string>> = {};
  const units: Record<string, Values> = {};
  for (const block of replaceAll(text, names).split('\n\n')) {
    const properties: Record<string, string> = {};
    for (const line of block.split('\n')) {
      const [, path = '', file = '', value = ''] = /^\.(\/.*)\/([^/]*?):(.*)$/.exec(line) ?? [];
      // How many processes systemd allows in a scope depends on the machine, and is not the kubelet's.
      const isOthers = path.endsWith('.scope') && file === 'pids.max';
      if (path !== '' && !isOthers) files[path] = { ...files[path], [file]: value };
      else if (line.includes('=')) properties[line.slice(0, line.indexOf('='))] = line.slice(line.indexOf('=') + 1);
    }
    const { Id: unit, ...rest } = properties;
    if (unit !== undefined) units[unit] = rest;
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
