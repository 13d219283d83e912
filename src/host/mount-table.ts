/** The mounts that this process sees, read from /proc/self/mountinfo. Reading it touches none of them. */
import { readFileSync } from 'node:fs';

export interface MountEntry {
  readonly id: number;
  readonly parent: number;
  /** `major:minor` of the file system. */
  readonly device: string;
  /** Which directory of the file system is mounted. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
  readonly source: string;
  readonly options: string;
  readonly superOptions: string;
}

/** With `about`, a path, only mounts with that text in their line: at the path, below it, or of it. */
export type MountTable = (about?: string) => readonly MountEntry[];

export const readMountTable: MountTable = (about) => {
  const text = readFileSync('/proc/self/mountinfo', 'utf8');
  // Names that the kernel writes in another way are left to who reads the table.
  if (about === undefined || /[\\\s#]/.test(about)) return parseMountTable(text);
  if (!text.includes(about)) return [];
  return parseMountTable(text, about);
};

export function parseMountTable(text: string, about = ''): readonly MountEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && line.includes(about))
    .map((line) => {
      const [before = '', after = ''] = line.split(' - ', 2);
      const [id, parent, device = '', root = '', point = '', options = ''] = before.split(' ');
      const [type = '', source = '', superOptions = ''] = after.split(' ');
      return {
        id: Number(id),
        parent: Number(parent),
        device,
        root: plain(root),
        point: plain(point),
        type,
        source: plain(source),
        options,
        superOptions,
      };
    });
}

/** The mount that is seen at this path itself, if it is a mount point: of several, the last one made. */
export function mountAt(table: readonly MountEntry[], path: string): MountEntry | undefined {
  return table.findLast(({ point }) => point === path);
}

/** Everything mounted below the path, hidden mounts too. */
export function mountsBelow(table: readonly MountEntry[], path: string): readonly MountEntry[] {
  return table.filter(({ point }) => point.startsWith(`${path}/`));
}

/** The mount that holds a path without links. */
export function mountOf(table: readonly MountEntry[], path: string): MountEntry | undefined {
  let best: MountEntry | undefined;
  for (const entry of table) {
    const holds = entry.point === '/' || path === entry.point || path.startsWith(`${entry.point}/`);
    if (holds && entry.point.length >= (best?.point.length ?? 0)) best = entry;
  }
  return best;
}

/** File systems whose answers come from this kernel alone: they don't wait for a server or another process. */
const LOCAL =
  /^(?:ext[234]|xfs|btrfs|f2fs|zfs|bcachefs|vfat|overlay|tmpfs|ramfs|rootfs|hugetlbfs|devtmpfs|proc|sysfs|cgroup2?|squashfs|erofs|iso9660|securityfs|mqueue|devpts|bpf|tracefs|debugfs|configfs|pstore|efivarfs|fusectl|binfmt_misc)$/;

/** A path on such a mount may hang: only a process that can be killed may touch it. */
export function isForeign({ type }: MountEntry): boolean {
  return !LOCAL.test(type);
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
function plain(text: string): string {
  return text.includes('\\')
    ? text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    : text;
}
