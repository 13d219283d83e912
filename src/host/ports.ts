/**
 * What a kubelet needs of its machine, as small ports. `host.ts` opens them on Linux; `simulated/` is a machine in memory. The composition root
 * hands each part the functions that it declares, so no part knows which of the two it runs on.
 */
import type { Clock } from '../base/clock.ts';

import type { Machine } from '../model/machine.ts';

import type { CgroupHierarchy } from './cgroup-mounts.ts';
import type { Cgroups } from './cgroups.ts';
import type { Bus } from './dbus/bus.ts';
import type { DiskSpace, FileSystemSize, FilesUse } from './disk.ts';
import type { FileCalls } from './file-calls.ts';
import type { FileJobs, OwnProgram } from './file-jobs.ts';
import type { GuardedFiles } from './guarded-files.ts';
import type { MachineIdentityFiles } from './identity.ts';
import type { Inotify } from './inotify.ts';
import type { KernelFiles } from './kernel-files.ts';
import type { KernelLogListener } from './kernel-log.ts';
import type { FileLock } from './lock-file.ts';
import type { MemoryEvents } from './memory-events.ts';
import type { MountTable } from './mount-table.ts';
import type { DefaultRouteOf, InterfaceAddresses, ResolveLimits } from './network.ts';
import type { OpenFilesOutcome } from './open-files.ts';
import type { OwnProcess } from './own-process.ts';
import type { PacketFilter, PacketFilterDeps } from './packet-filter.ts';
import type { Processes } from './processes.ts';
import type { RuntimeFacts } from './runtime-facts.ts';
import type { StallEvents } from './stall-events.ts';

export interface Host {
  readonly files: HostFiles;
  readonly mounts: HostMounts;
  readonly cgroups: HostCgroups;
  readonly processes: HostProcesses;
  readonly network: HostNetwork;
  readonly machine: HostMachine;
  readonly capacity: HostCapacity;
  readonly own: HostOwnProcess;
  readonly kernel: HostKernel;
  /**
   * The system bus, on which systemd answers. Nothing is connected before the first call. Where there is none, systemd itself answers on a
   * socket of its own, unless `others` are called as well.
   */
  openBus(clock: Clock, others?: 'others'): Bus;
}

export interface HostFiles {
  readonly inotify: Inotify;
  /** Opens what containers can write. */
  readonly guarded: GuardedFiles;
  /** Work on many files, or on files that may hang. Without `program` it is all done in this process. */
  jobs(deps: { readonly clock: Clock; readonly program: OwnProgram | undefined }): FileJobs;
  /** A whole file of the system's configuration. */
  readText(path: string): Promise<string>;
  /** Of the local file system that a path is on. */
  space(path: string): Promise<DiskSpace>;
  /** Undefined: there is no such path. */
  size(path: string): Promise<FileSystemSize | undefined>;
  /** What a file takes, or the files directly in a directory. */
  use(path: string): Promise<FilesUse>;
}

export interface HostMounts extends Pick<FileCalls, 'mount' | 'unmount'> {
  readonly table: MountTable;
  /** Whether a path leads over a mount that may hang. */
  leadsToForeign(path: string): boolean;
}

export interface HostCgroups {
  version(): 1 | 2;
  hierarchies(): readonly CgroupHierarchy[];
  /** Throws where no hierarchy is mounted. */
  tree(): Cgroups;
  /** Reads files of cgroups and of processes. `onFailure` is called with what exists and cannot be read. */
  files(onFailure: (path: string, error: unknown) => void): KernelFiles;
  readonly memoryEvents: MemoryEvents;
  readonly stallEvents: StallEvents;
}

export interface HostProcesses extends Processes {
  /** Threads of the kernel run no program. False for a process that has ended. */
  isKernelThread(pid: number): boolean;
}

export interface HostKernel {
  /** Throws where this process may not read the kernel's log. */
  followLog(listener: KernelLogListener): { close(): void };
  /** Undefined where this kernel has no such setting. `name` is a path below /proc/sys, such as `vm/overcommit_memory`. */
  readSetting(name: string): number | undefined;
  writeSetting(name: string, value: number): void;
}

export interface HostNetwork {
  hostName(): string;
  /** Lists the interfaces; it is read again only where addresses have changed. */
  interfaces(mono: () => number): () => readonly InterfaceAddresses[];
  defaultRoutes(): readonly DefaultRouteOf[];
  /** What the system's resolver answers; nothing for an unknown name. */
  resolve(name: string, limits: ResolveLimits): Promise<readonly string[]>;
  /** iptables. Nothing is run or opened before the first call. */
  packetFilter(deps: PacketFilterDeps): PacketFilter;
}

/** What does not change while a kubelet runs, but for swap. */
export interface HostMachine {
  /** The whole machine as one value. */
  read(identityFiles: MachineIdentityFiles): Machine;
  appArmorEnabled(): boolean;
  /** What requests to the container runtime depend on. */
  runtimeFacts(): RuntimeFacts;
  swapAreas(): readonly string[];
}

export interface HostCapacity {
  /** Of processes and threads at once; undefined where the kernel has no such limit. */
  processLimit(): bigint | undefined;
  /** The size of the file system that holds this directory. */
  diskBytes(directory: string): bigint;
}

/** The process that this kubelet lives in. */
export interface HostOwnProcess {
  readonly pid: number;
  /** What the kernel counts of it. */
  usage(): OwnProcess;
  raiseOpenFiles(request: bigint): OpenFilesOutcome;
  /** The reason where it is not allowed. */
  setOomScore(score: number): string | undefined;
  /** Returns freed memory to the system. */
  giveBackMemory(): void;
  /** Unmaps what is resident of the program's own files; what is needed again comes back from the page cache. */
  releaseProgramPages(): Promise<void>;
  acquireFileLock(path: string, clock: Clock, signal: AbortSignal, onWait: () => void): Promise<FileLock>;
}
