/**
 * System calls on files by descriptor, through `node:ffi`: what is opened step by step can't be exchanged for something else by
 * the owner of the directory. They block as long as the file system does, so paths on foreign mounts belong into a process that can be killed.
 */

import { dlopen, getInt32 } from 'node:ffi';
import { constants } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { CodedError } from '../base/errors.ts';
import { systemError } from './syscalls.ts';

export const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
export const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
const AT_REMOVEDIR = 0x200;
const AT_EMPTY_PATH = 0x1000;
const SAME_OWNER = 0xffffffff;
const SYS_OPENAT2 = 437n;
const RESOLVE_NO_XDEV = 0x01n;
const RESOLVE_NO_MAGICLINKS = 0x02n;
const RESOLVE_NO_SYMLINKS = 0x04n;
const RESOLVE_BENEATH = 0x08n;
const MS_BIND = 4096n;
const MS_REMOUNT = 32n;
const MNT_DETACH = 2;
const UMOUNT_NOFOLLOW = 8;
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9n;
const SEEK_SET = 0;
const FS_IOC_GETFLAGS = 0x80086601n;
const FS_IOC_SETFLAGS = 0x40086602n;
const FS_IMMUTABLE = 0x10;
const FS_APPEND_ONLY = 0x20;
const DT_UNKNOWN = 0;
const DT_DIRECTORY = 4;
/** Where the fields of a `linux_dirent64` are. */
const DIRENT = { next: 8, length: 16, type: 18, name: 19 } as const;
/** One reading of a directory: some hundred names. */
const NAMES_BYTES = 32 * 1024;
const { EAGAIN, ENOENT } = osConstants.errno;
const MOST_TRIES = 100;

export interface OpenBelow {
  readonly flags: number;
  /** `inside`: links are followed as long as they stay below the directory. `none`: no link anywhere on the way. */
  readonly links: 'inside' | 'none';
  /** False: fails with EXDEV where something is mounted on the way. */
  readonly crossMounts: boolean;
}

/** The kernel knows names as bytes: a container may use any but zero and the slash, so what was listed is passed on as it is. */
export type Name = string | Uint8Array;

export interface NamedEntry {
  readonly name: Buffer;
  /** As the directory says; some file systems don't. */
  readonly type: 'directory' | 'other' | 'unknown';
  /** Where in the directory the entry after this one is, see `seekNames`. */
  readonly next: bigint;
}

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly type: string;
  /** Options of the file system: `size=8388608,noswap`. */
  readonly data: string;
}

export interface FileCalls {
  /** A descriptor of a path that can't leave `directory`, whatever is exchanged meanwhile; the last name is never followed with O_NOFOLLOW. */
  openBelow(directory: number, path: Name, how: OpenBelow): number;
  /** The directory above this one, wherever that is by now: the caller must compare it with the one that it came from. */
  openParent(directory: number): number;
  /** The next few hundred names of a directory; none at its end. */
  readNames(directory: number): readonly NamedEntry[];
  /** `readNames` goes on there. */
  seekNames(directory: number, position: bigint): void;
  makeDirectory(directory: number, name: Name, mode: number): void;
  removeName(directory: number, name: Name, what: 'file' | 'directory'): void;
  rename(from: number, name: Name, to: number, newName: Name): void;
  /** Takes the attributes `immutable` and `append only` off an open file or directory; false where it has neither. */
  makeMutable(fd: number): boolean;
  setGroup(fd: number, gid: number): void;
  mount(mount: Mount): void;
  /** Shows the source at the target too. */
  bind(source: string, target: string): void;
  /** Changes the options of the mount at `target`. */
  remount(target: string, data: string): void;
  /** `lazy`: gone from the tree at once, from the machine when its last user is. */
  unmount(target: string, lazy: boolean): void;
  /** The kernel kills this process when its parent is gone. */
  dieWithParent(): void;
}

const SIGNATURES = {
  syscall: { arguments: ['i64', 'i64', 'buffer', 'buffer', 'u64'], return: 'i64' },
  openat: { arguments: ['i32', 'buffer', 'i32'], return: 'i32' },
  getdents64: { arguments: ['i32', 'buffer', 'u64'], return: 'i64' },
  lseek: { arguments: ['i32', 'i64', 'i32'], return: 'i64' },
  ioctl: { arguments: ['i32', 'u64', 'buffer'], return: 'i32' },
  mkdirat: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  unlinkat: { arguments: ['i32', 'buffer', 'i32'], return: 'i32' },
  renameat: { arguments: ['i32', 'buffer', 'i32', 'buffer'], return: 'i32' },
  fchownat: { arguments: ['i32', 'string', 'u32', 'u32', 'i32'], return: 'i32' },
  mount: { arguments: ['string', 'string', 'string', 'u64', 'string'], return: 'i32' },
  umount2: { arguments: ['string', 'i32'], return: 'i32' },
  prctl: { arguments: ['i32', 'u64', 'u64', 'u64', 'u64'], return: 'i32' },
  __errno_location: { arguments: [], return: 'pointer' },
} as const;

export function createFileCalls(): FileCalls {
  const { functions: libc } = dlopen('libc.so.6', SIGNATURES);
  const check = (result: number, call: string, about: Name): void => {
    if (result < 0) throw systemError(getInt32(libc.__errno_location()), call, textOf(about));
  };
  const listed = Buffer.alloc(NAMES_BYTES);
  return {
    openBelow: (directory, path, { flags, links, crossMounts }) => {
      const resolve =
        RESOLVE_BENEATH |
        RESOLVE_NO_MAGICLINKS |
        (links === 'none' ? RESOLVE_NO_SYMLINKS : 0n) |
        (crossMounts ? 0n : RESOLVE_NO_XDEV);
      const how = new BigUint64Array([BigInt(flags | O_CLOEXEC), 0n, resolve]);
      const bytes = terminated(path);
      const call = () => Number(libc.syscall(SYS_OPENAT2, BigInt(directory), bytes, how, BigInt(how.byteLength)));
      let fd = call();
      // Something was moved while the path was resolved: the kernel asks for another try.
      for (let tries = 1; fd < 0 && tries < MOST_TRIES && getInt32(libc.__errno_location()) === EAGAIN; tries += 1) {
        fd = call();
      }
      check(fd, 'openat2', path);
      return fd;
    },
    openParent: (directory) => {
      const fd = libc.openat(directory, terminated('..'), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      check(fd, 'openat', '..');
      return fd;
    },
    readNames: (directory) => {
      const length = Number(libc.getdents64(directory, listed, BigInt(listed.length)));
      // The directory itself was removed meanwhile.
      if (length < 0 && getInt32(libc.__errno_location()) === ENOENT) return [];
      check(length, 'getdents64', `descriptor ${directory}`);
      return namesOf(listed.subarray(0, length));
    },
    seekNames: (directory, position) =>
      check(Number(libc.lseek(directory, position, SEEK_SET)), 'lseek', `descriptor ${directory}`),
    makeDirectory: (directory, name, mode) => check(libc.mkdirat(directory, terminated(name), mode), 'mkdirat', name),
    removeName: (directory, name, what) =>
      check(libc.unlinkat(directory, terminated(name), what === 'directory' ? AT_REMOVEDIR : 0), 'unlinkat', name),
    rename: (from, name, to, newName) =>
      check(libc.renameat(from, terminated(name), to, terminated(newName)), 'renameat', name),
    makeMutable: (fd) => {
      const flags = new BigInt64Array(1);
      check(libc.ioctl(fd, FS_IOC_GETFLAGS, flags), 'ioctl', `descriptor ${fd}`);
      const before = Number(flags[0]);
      if ((before & (FS_IMMUTABLE | FS_APPEND_ONLY)) === 0) return false;
      flags[0] = BigInt(before & ~(FS_IMMUTABLE | FS_APPEND_ONLY));
      check(libc.ioctl(fd, FS_IOC_SETFLAGS, flags), 'ioctl', `descriptor ${fd}`);
      return true;
    },
    setGroup: (fd, gid) => check(libc.fchownat(fd, '', SAME_OWNER, gid, AT_EMPTY_PATH), 'fchownat', `descriptor ${fd}`),
    mount: ({ source, target, type, data }) => check(libc.mount(source, target, type, 0n, data), 'mount', target),
    bind: (source, target) => check(libc.mount(source, target, '', MS_BIND, ''), 'mount', target),
    remount: (target, data) => check(libc.mount('', target, '', MS_REMOUNT, data), 'mount', target),
    unmount: (target, lazy) =>
      check(libc.umount2(target, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)), 'umount2', target),
    dieWithParent: () =>
      check(libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0n, 0n, 0n), 'prctl', 'the signal at the end of the parent'),
  };
}

const textOf = (name: Name): string => (typeof name === 'string' ? name : Buffer.from(name).toString());

/** With the zero byte by which C knows the end; a name that has one inside would mean another file. */
function terminated(name: Name): Buffer {
  const bytes = typeof name === 'string' ? Buffer.from(name) : name;
  if (bytes.includes(0))
    throw new CodedError('invalid', `a file name with a zero byte: ${JSON.stringify(textOf(name))}`);
  const text = Buffer.alloc(bytes.length + 1);
  text.set(bytes);
  return text;
}

/** Without `.` and `..`. */
function namesOf(listed: Buffer): readonly NamedEntry[] {
  const entries: NamedEntry[] = [];
  for (let at = 0; at < listed.length; ) {
    const length = listed.readUInt16LE(at + DIRENT.length);
    const name = listed.subarray(at + DIRENT.name, listed.indexOf(0, at + DIRENT.name));
    const type = listed[at + DIRENT.type];
    if (!isDots(name)) {
      entries.push({
        name: Buffer.from(name),
        type: type === DT_DIRECTORY ? 'directory' : type === DT_UNKNOWN ? 'unknown' : 'other',
        next: listed.readBigInt64LE(at + DIRENT.next),
      });
    }
    at += length;
  }
  return entries;
}

const DOT = 0x2e;
const isDots = (name: Buffer): boolean =>
  name[0] === DOT && (name.length === 1 || (name.length === 2 && name[1] === DOT));
