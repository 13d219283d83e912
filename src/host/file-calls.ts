/**
 * System calls on files by descriptor, through `node:ffi`: what is opened step by step can't be exchanged for something else by
 * whoever owns the folder. They block as long as the file system does, so paths on foreign mounts belong into a process that can be killed.
 */

import { dlopen, getInt32 } from 'node:ffi';
import { constants } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { systemError } from './syscalls.ts';

export const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
export const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
/** Not a descriptor: paths are relative to the working folder. */
export const AT_CWD = -100;
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
const { EAGAIN } = osConstants.errno;
const MOST_TRIES = 100;

export interface OpenBelow {
  readonly flags: number;
  /** `inside`: links are followed as long as they stay below the folder. `none`: no link anywhere on the way. */
  readonly links: 'inside' | 'none';
  /** False: fails with EXDEV where something is mounted on the way. */
  readonly crossMounts: boolean;
}

export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly type: string;
  /** Options of the file system: `size=8388608,noswap`. */
  readonly data: string;
}

export interface FileCalls {
  /** A descriptor of a path that can't leave `folder`, whatever is exchanged meanwhile; the last name is never followed with O_NOFOLLOW. */
  openBelow(folder: number, path: string, how: OpenBelow): number;
  makeDirectory(folder: number, name: string, mode: number): void;
  removeName(folder: number, name: string, what: 'file' | 'directory'): void;
  rename(from: number, name: string, to: number, newName: string): void;
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
  syscall: { arguments: ['i64', 'i64', 'string', 'buffer', 'u64'], return: 'i64' },
  mkdirat: { arguments: ['i32', 'string', 'u32'], return: 'i32' },
  unlinkat: { arguments: ['i32', 'string', 'i32'], return: 'i32' },
  renameat: { arguments: ['i32', 'string', 'i32', 'string'], return: 'i32' },
  fchownat: { arguments: ['i32', 'string', 'u32', 'u32', 'i32'], return: 'i32' },
  mount: { arguments: ['string', 'string', 'string', 'u64', 'string'], return: 'i32' },
  umount2: { arguments: ['string', 'i32'], return: 'i32' },
  prctl: { arguments: ['i32', 'u64', 'u64', 'u64', 'u64'], return: 'i32' },
  __errno_location: { arguments: [], return: 'pointer' },
} as const;

export function createFileCalls(): FileCalls {
  const { functions: libc } = dlopen('libc.so.6', SIGNATURES);
  const check = (result: number, call: string, about: string): void => {
    if (result < 0) throw systemError(getInt32(libc.__errno_location()), call, about);
  };
  return {
    openBelow: (folder, path, { flags, links, crossMounts }) => {
      const resolve =
        RESOLVE_BENEATH |
        RESOLVE_NO_MAGICLINKS |
        (links === 'none' ? RESOLVE_NO_SYMLINKS : 0n) |
        (crossMounts ? 0n : RESOLVE_NO_XDEV);
      const how = new BigUint64Array([BigInt(flags | O_CLOEXEC), 0n, resolve]);
      const call = () => Number(libc.syscall(SYS_OPENAT2, BigInt(folder), path, how, BigInt(how.byteLength)));
      let fd = call();
      // Somebody moved something while the way up and down was followed: the kernel wants to be asked again.
      for (let tries = 1; fd < 0 && tries < MOST_TRIES && getInt32(libc.__errno_location()) === EAGAIN; tries += 1) {
        fd = call();
      }
      check(fd, 'openat2', path);
      return fd;
    },
    makeDirectory: (folder, name, mode) => check(libc.mkdirat(folder, name, mode), 'mkdirat', name),
    removeName: (folder, name, what) =>
      check(libc.unlinkat(folder, name, what === 'directory' ? AT_REMOVEDIR : 0), 'unlinkat', name),
    rename: (from, name, to, newName) => check(libc.renameat(from, name, to, newName), 'renameat', name),
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

/** The kernel's name of what went wrong in one of these calls or in one of Node's: `EXDEV`. */
export function errnoName(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('data' in error && typeof error.data === 'object' && error.data !== null && 'name' in error.data) {
    return String(error.data.name);
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
