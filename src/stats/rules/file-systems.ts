/** The file systems of the node as metrics show them: which mounts count, and what their disks have done. */
import { parseNumber } from './kernel-text.ts';

export interface Mounted {
  /** `major:minor`. */
  readonly device: string;
  readonly point: string;
  readonly type: string;
  readonly source: string;
}

export interface ShownFileSystem {
  /** The label `device`. */
  readonly name: string;
  readonly device: string;
  readonly point: string;
}

const LOCAL = /^(?:ext[234]|xfs|btrfs|f2fs|jfs|reiserfs|squashfs|zfs|tmpfs|overlay)$/;
/** What a runtime mounts for its containers comes and goes with them and is not the node's. */
const OF_CONTAINERS = /\/(?:io\.containerd\.|containers\/storage\/|overlay-containers\/)/;

/** One for each device; each tmpfs by itself, under the name of its place. Nothing below `podsDirectory`: those are volumes. */
export function planFileSystems(mounts: readonly Mounted[], podsDirectory: string): readonly ShownFileSystem[] {
  const found = new Map<string, ShownFileSystem>();
  for (const { device, point, type, source } of mounts) {
    if (!LOCAL.test(type) || OF_CONTAINERS.test(point) || point.startsWith(`${podsDirectory}/`)) continue;
    const name = type === 'tmpfs' ? point : type === 'overlay' ? `${source}_${device.replace(':', '-')}` : source;
    // A later tmpfs hides an earlier one at the same place; of a disk, the first place is as good as any.
    if (type === 'tmpfs' || !found.has(name)) found.set(name, { name, device, point });
  }
  return [...found.values()];
}

/** Times are milliseconds. */
export interface DiskActivity {
  readonly reads: number;
  readonly readsMerged: number;
  readonly sectorsRead: number;
  readonly readMs: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly sectorsWritten: number;
  readonly writeMs: number;
  readonly current: number;
  readonly ioMs: number;
  readonly weightedMs: number;
}

export const NO_ACTIVITY: DiskActivity = {
  reads: 0,
  readsMerged: 0,
  sectorsRead: 0,
  readMs: 0,
  writes: 0,
  writesMerged: 0,
  sectorsWritten: 0,
  writeMs: 0,
  current: 0,
  ioMs: 0,
  weightedMs: 0,
};

const COLUMNS = 11;

/** `/proc/diskstats` by `major:minor`. */
export function parseDiskActivity(text: string | undefined): ReadonlyMap<string, DiskActivity> {
  const found = new Map<string, DiskActivity>();
  for (const line of (text ?? '').split('\n')) {
    const [major, minor, , ...rest] = line.trim().split(/\s+/);
    const numbers = rest.slice(0, COLUMNS).map(parseNumber);
    if (numbers.length < COLUMNS || numbers.includes(undefined)) continue;
    const at = (index: number) => numbers[index] ?? 0;
    found.set(`${major}:${minor}`, {
      reads: at(0),
      readsMerged: at(1),
      sectorsRead: at(2),
      readMs: at(3),
      writes: at(4),
      writesMerged: at(5),
      sectorsWritten: at(6),
      writeMs: at(7),
      current: at(8),
      ioMs: at(9),
      weightedMs: at(10),
    });
  }
  return found;
}

export interface FileSystemUse extends DiskActivity {
  readonly name: string;
  /** `major:minor`. */
  readonly device: string;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}
