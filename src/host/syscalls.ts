/**
 * System calls that Node lacks, through `node:ffi`. The only file that knows C signatures: the rest of `host/` sees typed functions
 * that throw coded errors. None of these may block, because they run on the main thread.
 */
import { dlopen, getInt32, getRawPointer } from 'node:ffi';
import { constants } from 'node:os';
import { getSystemErrorMessage, getSystemErrorName } from 'node:util';
import { CodedError, type ErrorCode } from '../base/errors.ts';

const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;
const MADV_DONTNEED = 4;
const RLIMIT_NOFILE = 7;
const MSG_NOSIGNAL = 0x4000;
const MSG_DONTWAIT = 0x40;
const POLLOUT = 4;
const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000;
const SOCK_STREAM_NONBLOCK_CLOEXEC = 1 | 0o4000 | 0o2000000;
const AF_NETLINK = 16;
const SOCK_RAW_NONBLOCK_CLOEXEC = 3 | 0o4000 | 0o2000000;
const NETLINK_NETFILTER = 12;
/** The bit of the group NFNLGRP_NFTABLES (7) in the address of a netlink socket. */
const NFTABLES_GROUP = 1 << 6;
const MSG_CMSG_CLOEXEC = 0x40000000;
const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;
/** The kernel passes at most 253 descriptors with one call. */
const CONTROL_BYTES = 16 + 256 * 4;
const CONTROL_HEADER_BYTES = 16;
const MESSAGE_HEADER_BYTES = 56;
const CONTROL_LENGTH_AT = 40;
/** The longest name that a socket's address holds. */
const LONGEST_SOCKET_NAME = 107;
/** O_NONBLOCK | O_CLOEXEC, the same on every Linux that Node runs on. */
const NONBLOCK_CLOEXEC = 0o4000 | 0o2000000;

export interface ResourceLimit {
  readonly soft: bigint;
  readonly hard: bigint;
}

export interface Syscalls {
  /** Takes the exclusive lock of an open file; false where another process holds it. */
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
  openFilesLimit(): ResourceLimit;
  setOpenFilesLimit(limit: ResourceLimit): void;
  /** A new descriptor that does not block and is closed in children. */
  inotifyOpen(): number;
  /** The watch descriptor. */
  inotifyAdd(fd: number, path: string, mask: number): number;
  inotifyRemove(fd: number, watch: number): void;
  /** A new event descriptor that does not block and is closed in children. */
  eventDescriptor(): number;
  /** Bytes taken by a socket without waiting; 0 where it takes none now. */
  sendNow(fd: number, bytes: Uint8Array): number;
  /** Sends one datagram to a Unix socket; a name that begins with a zero byte has no file. */
  sendDatagram(name: string, bytes: Uint8Array): void;
  /** A stream to a Unix socket. Throws `unavailable` where no one listens. */
  connectStream(path: string): number;
  /** A socket that gets what the kernel announces of changes to nftables, in this network namespace. Throws `denied` without CAP_NET_ADMIN. */
  openNftablesEvents(): number;
  /** What has come: bytes into the buffer, and file descriptors that were passed along, which are the caller's now. Undefined: nothing yet. */
  receive(fd: number, buffer: Buffer): { readonly bytes: number; readonly fds: readonly number[] } | undefined;
  /** Lets the system have the memory that this process has freed. Some milliseconds for each hundred megabytes. */
  giveBackMemory(): void;
  /** Unmaps the pages of a mapping; only for those that the kernel can read again from a file, unchanged. */
  releasePages(start: bigint, bytes: bigint): void;
  /** Whether the descriptor takes bytes within `ms`, or until a signal comes. Blocks for that long: only for the last moments of a process. */
  waitWritable(fd: number, ms: number): boolean;
}

const SIGNATURES = {
  flock: { arguments: ['i32', 'i32'], return: 'i32' },
  getrlimit: { arguments: ['i32', 'buffer'], return: 'i32' },
  setrlimit: { arguments: ['i32', 'buffer'], return: 'i32' },
  inotify_init1: { arguments: ['i32'], return: 'i32' },
  inotify_add_watch: { arguments: ['i32', 'string', 'u32'], return: 'i32' },
  inotify_rm_watch: { arguments: ['i32', 'i32'], return: 'i32' },
  eventfd: { arguments: ['u32', 'i32'], return: 'i32' },
  send: { arguments: ['i32', 'buffer', 'u64', 'i32'], return: 'i64' },
  socket: { arguments: ['i32', 'i32', 'i32'], return: 'i32' },
  sendto: { arguments: ['i32', 'buffer', 'u64', 'i32', 'buffer', 'u32'], return: 'i64' },
  connect: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  bind: { arguments: ['i32', 'buffer', 'u32'], return: 'i32' },
  recvmsg: { arguments: ['i32', 'buffer', 'i32'], return: 'i64' },
  close: { arguments: ['i32'], return: 'i32' },
  malloc_trim: { arguments: ['u64'], return: 'i32' },
  madvise: { arguments: ['u64', 'u64', 'i32'], return: 'i32' },
  poll: { arguments: ['buffer', 'u64', 'i32'], return: 'i32' },
  __errno_location: { arguments: [], return: 'pointer' },
} as const;

/** What is no word about the other end: it is full, a signal came, or the kernel is short of memory just now. */
const NOT_NOW = new Set([constants.errno.EAGAIN, constants.errno.EINTR, constants.errno.ENOBUFS]);

export function createSyscalls(): Syscalls {
  const { functions: libc } = dlopen('libc.so.6', SIGNATURES);
  const errno = () => getInt32(libc.__errno_location());
  const check = (result: number, call: string, about: string): number => {
    if (result < 0) throw systemError(errno(), call, about);
    return result;
  };
  return {
    tryLock: (fd) => {
      if (libc.flock(fd, LOCK_EX | LOCK_NB) === 0) return true;
      const code = errno();
      if (code === constants.errno.EWOULDBLOCK || code === constants.errno.EINTR) return false;
      throw systemError(code, 'flock', `descriptor ${fd}`);
    },
    giveBackMemory: () => void libc.malloc_trim(0n),
    releasePages: (start, bytes) => void check(libc.madvise(start, bytes, MADV_DONTNEED), 'madvise', 'program pages'),
    unlock: (fd) => void check(libc.flock(fd, LOCK_UN), 'flock', `descriptor ${fd}`),
    openFilesLimit: () => {
      const limit = new BigUint64Array(2);
      check(libc.getrlimit(RLIMIT_NOFILE, limit), 'getrlimit', 'open files');
      return { soft: limit[0] ?? 0n, hard: limit[1] ?? 0n };
    },
    setOpenFilesLimit: ({ soft, hard }) =>
      void check(libc.setrlimit(RLIMIT_NOFILE, new BigUint64Array([soft, hard])), 'setrlimit', 'open files'),
    inotifyOpen: () => check(libc.inotify_init1(NONBLOCK_CLOEXEC), 'inotify_init1', 'inotify'),
    inotifyAdd: (fd, path, mask) => check(libc.inotify_add_watch(fd, path, mask), 'inotify_add_watch', path),
    inotifyRemove: (fd, watch) => void check(libc.inotify_rm_watch(fd, watch), 'inotify_rm_watch', `watch ${watch}`),
    eventDescriptor: () => check(libc.eventfd(0, NONBLOCK_CLOEXEC), 'eventfd', 'event descriptor'),
    sendNow: (fd, bytes) => {
      const sent = Number(libc.send(fd, bytes, BigInt(bytes.byteLength), MSG_DONTWAIT | MSG_NOSIGNAL));
      if (sent >= 0) return sent;
      const code = errno();
      if (NOT_NOW.has(code)) return 0;
      throw systemError(code, 'send', `descriptor ${fd}`);
    },
    sendDatagram: (name, bytes) => {
      const address = unixAddress(name);
      const fd = check(libc.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0), 'socket', name);
      const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
      const sent = libc.sendto(fd, bytes, BigInt(bytes.byteLength), flags, address, address.byteLength);
      const failure = sent < 0n ? systemError(errno(), 'sendto', name) : undefined;
      libc.close(fd);
      if (failure !== undefined) throw failure;
    },
    connectStream: (path) => {
      const address = unixAddress(path);
      const fd = check(libc.socket(AF_UNIX, SOCK_STREAM_NONBLOCK_CLOEXEC, 0), 'socket', path);
      if (libc.connect(fd, address, address.byteLength) === 0) return fd;
      const failure = systemError(errno(), 'connect', path);
      libc.close(fd);
      throw new CodedError('unavailable', failure.message, { cause: failure });
    },
    openNftablesEvents: () => {
      const about = 'nftables events';
      const fd = check(libc.socket(AF_NETLINK, SOCK_RAW_NONBLOCK_CLOEXEC, NETLINK_NETFILTER), 'socket', about);
      const address = netlinkAddress(NFTABLES_GROUP);
      if (libc.bind(fd, address, address.byteLength) === 0) return fd;
      const failure = systemError(errno(), 'bind', about);
      libc.close(fd);
      throw failure;
    },
    receive: (fd, buffer) => {
      const control = Buffer.allocUnsafeSlow(CONTROL_BYTES);
      const header = messageHeader(buffer, control);
      const bytes = Number(libc.recvmsg(fd, header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
      const length = Number(header.readBigUInt64LE(CONTROL_LENGTH_AT));
      if (bytes >= 0) return { bytes, fds: passedDescriptors(control.subarray(0, length)) };
      const code = errno();
      if (NOT_NOW.has(code)) return undefined;
      throw systemError(code, 'recvmsg', `descriptor ${fd}`);
    },
    waitWritable: (fd, ms) => {
      const request = Buffer.alloc(8);
      request.writeInt32LE(fd, 0);
      request.writeInt16LE(POLLOUT, 4);
      return libc.poll(request, 1n, ms) > 0;
    },
  };
}

/** The kernel's form: family, then the name; a file's name ends with a zero byte. */
function unixAddress(name: string): Buffer {
  const bytes = Buffer.from(name);
  if (bytes.length > LONGEST_SOCKET_NAME) throw new CodedError('invalid', `socket name ${name} is too long`);
  const address = Buffer.alloc(2 + bytes.length + (name.startsWith('\0') ? 0 : 1));
  address.writeUInt16LE(AF_UNIX, 0);
  bytes.copy(address, 2);
  return address;
}

/** A `struct sockaddr_nl`: the kernel chooses the number of the port. */
function netlinkAddress(groups: number): Buffer {
  const address = Buffer.alloc(12);
  address.writeUInt16LE(AF_NETLINK, 0);
  address.writeUInt32LE(groups, 8);
  return address;
}

/**
 * A `struct msghdr` of 64-bit Linux, with one `struct iovec` after it. In memory that no garbage collection moves, since the kernel gets its
 * addresses.
 */
function messageHeader(buffer: Buffer, control: Buffer): Buffer {
  const header = Buffer.allocUnsafeSlow(MESSAGE_HEADER_BYTES + 16).fill(0);
  header.writeBigUInt64LE(getRawPointer(header) + BigInt(MESSAGE_HEADER_BYTES), 16);
  header.writeBigUInt64LE(1n, 24);
  header.writeBigUInt64LE(getRawPointer(control), 32);
  header.writeBigUInt64LE(BigInt(control.length), CONTROL_LENGTH_AT);
  header.writeBigUInt64LE(getRawPointer(buffer), MESSAGE_HEADER_BYTES);
  header.writeBigUInt64LE(BigInt(buffer.length), MESSAGE_HEADER_BYTES + 8);
  return header;
}

/** From the `struct cmsghdr`s that the kernel wrote. */
function passedDescriptors(control: Buffer): readonly number[] {
  const fds: number[] = [];
  for (let at = 0; at + CONTROL_HEADER_BYTES <= control.length; ) {
    const length = Number(control.readBigUInt64LE(at));
    if (length < CONTROL_HEADER_BYTES) break;
    if (control.readInt32LE(at + 8) === SOL_SOCKET && control.readInt32LE(at + 12) === SCM_RIGHTS) {
      for (let place = at + CONTROL_HEADER_BYTES; place < at + length; place += 4) fds.push(control.readInt32LE(place));
    }
    at += Math.ceil(length / 8) * 8;
  }
  return fds;
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'notFound',
  EEXIST: 'exists',
  EACCES: 'denied',
  EPERM: 'denied',
  ENOSPC: 'exhausted',
  EMFILE: 'exhausted',
  ENFILE: 'exhausted',
  ENOMEM: 'exhausted',
  EINVAL: 'invalid',
  ENOTDIR: 'invalid',
};

export function systemError(errno: number, call: string, about: string): CodedError {
  const name = getSystemErrorName(-errno);
  const message = `${call} ${about}: ${getSystemErrorMessage(-errno)} (${name})`;
  return new CodedError(CODES[name] ?? 'internal', message, { data: { errno, name, call } });
}
