/** The families of `/metrics/cadvisor` about disks: what cgroups do to them, and for the node what their file systems hold. */
import type { CadvisorFamily, CadvisorValue, Seen } from './cadvisor-family.ts';
import type { FileSystemUse } from './file-systems.ts';
import type { DiskCounters } from './sample.ts';

type OfFileSystem = (use: FileSystemUse) => number;

const SECOND_MS = 1000;

function fromFileSystems(name: string, help: string, type: 'counter' | 'gauge', of: OfFileSystem): CadvisorFamily {
  return {
    name: `container_fs_${name}`,
    help,
    type,
    extra: ['device'],
    values: ({ fileSystems }) => fileSystems.map((use) => ({ extra: [use.name], value: of(use) })),
  };
}

interface IoFamily {
  readonly name: string;
  readonly help: string;
  readonly disks: (seen: Seen) => readonly DiskCounters[] | undefined;
  readonly operation: 'Read' | 'Write';
  readonly of?: OfFileSystem;
}

/** What the cgroup did to each disk; for the node what was done to the disks of its file systems. */
function fromIo({ name, help, disks, operation, of }: IoFamily): CadvisorFamily {
  return {
    name: `container_fs_${name}`,
    help,
    type: 'counter',
    extra: ['device'],
    values: (seen) => {
      const done = (disks(seen) ?? []).map(
        (disk): CadvisorValue => ({ extra: [seen.diskName(disk)], value: disk.operations[operation] ?? 0 }),
      );
      if (of === undefined) return done;
      const named = new Set(done.map(({ extra }) => extra?.[0]));
      // One series for each device: what the cgroup itself counts goes before what the disk counts.
      const rest = seen.fileSystems.filter((use) => !named.has(use.name));
      return [...done, ...rest.map((use) => ({ extra: [use.name], value: of(use) }))];
    },
  };
}

const bytes = (seen: Seen) => seen.reading.io?.bytes;
const serviced = (seen: Seen) => seen.reading.io?.serviced;

export const diskFamilies: readonly CadvisorFamily[] = [
  fromFileSystems('inodes_free', 'Number of available Inodes', 'gauge', (use) => use.inodesFree),
  fromFileSystems('inodes_total', 'Number of Inodes', 'gauge', (use) => use.inodes),
  fromFileSystems(
    'limit_bytes',
    'Number of bytes that can be consumed by the container on this filesystem.',
    'gauge',
    (use) => use.capacityBytes,
  ),
  fromFileSystems(
    'usage_bytes',
    'Number of bytes that are consumed by the container on this filesystem.',
    'gauge',
    (use) => use.usedBytes,
  ),
  fromIo({ name: 'reads_bytes_total', help: 'Cumulative count of bytes read', disks: bytes, operation: 'Read' }),
  fromIo({ name: 'writes_bytes_total', help: 'Cumulative count of bytes written', disks: bytes, operation: 'Write' }),
  fromIo({
    name: 'reads_total',
    help: 'Cumulative count of reads completed',
    disks: serviced,
    operation: 'Read',
    of: (use) => use.reads,
  }),
  fromIo({
    name: 'writes_total',
    help: 'Cumulative count of writes completed',
    disks: serviced,
    operation: 'Write',
    of: (use) => use.writes,
  }),
  fromFileSystems(
    'sector_reads_total',
    'Cumulative count of sector reads completed',
    'counter',
    (use) => use.sectorsRead,
  ),
  fromFileSystems(
    'sector_writes_total',
    'Cumulative count of sector writes completed',
    'counter',
    (use) => use.sectorsWritten,
  ),
  fromFileSystems('reads_merged_total', 'Cumulative count of reads merged', 'counter', (use) => use.readsMerged),
  fromFileSystems('writes_merged_total', 'Cumulative count of writes merged', 'counter', (use) => use.writesMerged),
  fromFileSystems(
    'read_seconds_total',
    'Cumulative count of seconds spent reading',
    'counter',
    (use) => use.readMs / SECOND_MS,
  ),
  fromFileSystems(
    'write_seconds_total',
    'Cumulative count of seconds spent writing',
    'counter',
    (use) => use.writeMs / SECOND_MS,
  ),
  fromFileSystems('io_current', 'Number of I/Os currently in progress', 'gauge', (use) => use.current),
  fromFileSystems(
    'io_time_seconds_total',
    'Cumulative count of seconds spent doing I/Os',
    'counter',
    (use) => use.ioMs / SECOND_MS,
  ),
  fromFileSystems(
    'io_time_weighted_seconds_total',
    'Cumulative weighted I/O time in seconds',
    'counter',
    (use) => use.weightedMs / SECOND_MS,
  ),
  {
    name: 'container_blkio_device_usage_total',
    help: 'Blkio Device bytes usage',
    type: 'counter',
    extra: ['device', 'major', 'minor', 'operation'],
    values: (seen) =>
      (bytes(seen) ?? []).flatMap((disk) =>
        Object.entries(disk.operations).map(([operation, value]) => ({
          extra: [seen.diskName(disk), String(disk.major), String(disk.minor), operation],
          value,
        })),
      ),
  },
];
