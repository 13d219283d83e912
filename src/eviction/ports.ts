/** What eviction needs from the other parts of the kubelet. */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { PodEnding } from '../model/pod-view.ts';
import type { ImageDisk, MemorySignal, PodUsages, SignalReadings } from '../model/usage.ts';

export interface UsagePort {
  /** What is free on the node; cheap. */
  signals(signal: AbortSignal): Promise<SignalReadings>;
  /** What each pod uses; costs a look at every container. `measure`: local volumes are measured for it, which takes time on a full disk. */
  pods(signal: AbortSignal, options?: { readonly measure?: boolean }): Promise<PodUsages>;
  imageDisk(): ImageDisk;
}

export interface EvictablePods {
  /** Pods that run, or are about to: not those that have ended or are ending. */
  active(): readonly Pod[];
  end(uid: PodUid, request: EvictionRequest): void;
  /** Resolves when nothing of the pod runs any more, or after the time. */
  untilEnded(uid: PodUid, withinMs: number, signal: AbortSignal): Promise<void>;
}

export interface EvictionRequest {
  readonly end: PodEnding;
  readonly graceSeconds: number;
  readonly eventType: 'Warning';
  /** Of the event. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What frees space without a pod losing anything. */
export interface ReclaimPort {
  /** Rotates the logs that have grown beyond their limit, and removes the beginning of those that are far beyond it. */
  shrinkLargeLogs(signal: AbortSignal): Promise<void>;
  removeDeadContainers(signal: AbortSignal): Promise<void>;
  /** The longest unused first, until so many bytes are free. */
  removeUnusedImages(bytes: number, signal: AbortSignal): Promise<void>;
}

/** Notifications of the kernel that processes wait for memory. */
export interface StallAlarm {
  /** Throws where the kernel has none. */
  watchMemory(onStalled: () => void): { close(): void };
}

/** Notifications of the kernel about memory. */
export interface MemoryAlarm {
  /** Calls back when the cgroup that the signal counts goes over so many bytes, or back. */
  watch(signal: MemorySignal, bytes: number, onCrossed: () => void): { close(): void };
}
