/** What the node and its pods use, for decisions about pressure. Bytes, inodes and processes as whole numbers. */
import type { PodUid } from '../api/ids.ts';

export type EvictionSignal =
  | 'memory.available'
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'containerfs.available'
  | 'containerfs.inodesFree'
  | 'pid.available';

export type MemorySignal = Extract<EvictionSignal, 'memory.available' | 'allocatableMemory.available'>;

export interface SignalReading {
  readonly available: number;
  readonly capacity: number;
  /** Wall clock, ms. */
  readonly time: number;
  /** Of memory: what its cgroup holds, with the page cache that can be dropped. */
  readonly usedBytes?: number;
}

/** A signal that could not be read is missing. */
export type SignalReadings = ReadonlyMap<EvictionSignal, SignalReading>;

export interface DiskUse {
  readonly bytes: number;
  readonly inodes: number;
}

export interface ContainerUsage {
  readonly name: string;
  /** The working set; undefined: not known. */
  readonly memory: number | undefined;
  readonly rootfs: DiskUse | undefined;
  readonly logs: DiskUse | undefined;
}

export interface PodUsage {
  readonly uid: PodUid;
  readonly memory: number | undefined;
  readonly processes: number;
  readonly containers: readonly ContainerUsage[];
  /** By the name of the volume. `isLocal`: on the disk of the node. */
  readonly volumes: ReadonlyMap<string, DiskUse & { readonly isLocal: boolean }>;
  /** All ephemeral storage of the pod, in bytes. */
  readonly ephemeralBytes: number | undefined;
}

export type PodUsages = ReadonlyMap<PodUid, PodUsage>;

export interface ImageDisk {
  /** Images are on another file system than the kubelet's directory. */
  readonly isSeparate: boolean;
  /** And writable layers on yet another than images, such as that of the kubelet's directory. */
  readonly isSplit: boolean;
}
