/** Where the kernel's cgroup hierarchies are mounted: many of the first generation, one of the second, or both at once. */
import { readFileSync } from 'node:fs';

export interface CgroupHierarchy {
  readonly version: 1 | 2;
  readonly mountPoint: string;
  /** Of the first generation only; the second says in its files what it has. A hierarchy that only groups has none. */
  readonly controllers: readonly string[];
}

/** Options of a cgroup mount that are no controllers. */
const OTHER_OPTIONS = /^(?:rw|ro|all|none|noprefix|clone_children|xattr|cpuset_v2_mode|favordynmods|.*=.*)$/;
const SYSTEMD = 'name=systemd';

export function readCgroupMounts(): readonly CgroupHierarchy[] {
  return parseCgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
}

/**
 * From the text of `/proc/self/mountinfo`. A controller that is mounted at several places counts at the shortest. Named
 * hierarchies belong to the programs that made them, but for systemd's, in which runtimes keep containers too.
 */
export function parseCgroupMounts(mountinfo: string): readonly CgroupHierarchy[] {
  const found = new Map<string, CgroupHierarchy>();
  for (const line of mountinfo.split('\n')) {
    const hierarchy = parseLine(line);
    if (hierarchy === undefined) continue;
    const key = `${hierarchy.version}:${hierarchy.controllers.join(',')}`;
    const before = found.get(key);
    if (before === undefined || hierarchy.mountPoint.length < before.mountPoint.length) found.set(key, hierarchy);
  }
  return [...found.values()];
}

function parseLine(line: string): CgroupHierarchy | undefined {
  const [place = '', fileSystem = ''] = line.split(' - ');
  const mountPoint = plainPath(place.split(' ')[4] ?? '');
  const [type, , options = ''] = fileSystem.split(' ');
  if (type === 'cgroup2') return { version: 2, mountPoint, controllers: [] };
  if (type !== 'cgroup') return undefined;
  const all = options.split(',');
  const controllers = all.filter((option) => option !== '' && !OTHER_OPTIONS.test(option)).sort();
  return controllers.length > 0 || all.includes(SYSTEMD) ? { version: 1, mountPoint, controllers } : undefined;
}

/** The kernel writes blanks in paths as three octal digits. */
function plainPath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
