/**
 * Which particular resources of the node a pod gets: devices, CPUs, memory of certain NUMA nodes. One pass at admission asks every provider
 * for hints, merges them by the topology policy, and has every provider allocate. What was allocated is added to the requests to the runtime.
 */
import type { Container } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import type { Device, Mount } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';

/** A set of NUMA nodes: bit n is the node with the id n, from 0 to `LARGEST_NUMA_ID`. */
export type NumaMask = number;

/** Bitwise operators of the language keep 31 bits that are never negative. */
export const LARGEST_NUMA_ID = 30;

export interface TopologyHint {
  /** Undefined: any nodes. */
  readonly affinity: NumaMask | undefined;
  readonly preferred: boolean;
}

/**
 * By resource. Undefined: the provider has no preference for this resource. No hints at all: the resource can't be had with any affinity.
 */
export type TopologyHints = ReadonlyMap<string, readonly TopologyHint[] | undefined>;

export interface AssignmentRequest {
  readonly pod: Pod;
  readonly container: Container;
  /** What the merged hints of the container (or of its pod) say; undefined without a topology policy. */
  readonly hint: TopologyHint | undefined;
}

export type Assigned =
  | { readonly kind: 'done' }
  /** The pod fails for good, with this reason in its status. */
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string }
  /** Not now, but perhaps soon: the pod is assigned again when the provider reports a change. What it has stays. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly message: string };

/** What a container request gets from what was assigned to the container. Missing: nothing of the kind. */
export interface ContainerAssignment {
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly mounts?: readonly Init<Mount>[];
  readonly devices?: readonly Init<Device>[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Names of CDI devices, such as `vendor.com/class=name`. */
  readonly cdiDevices?: readonly string[];
  /** As the kernel writes sets: `0-3,8`. */
  readonly cpus?: string;
  readonly mems?: string;
  /** The CPUs belong to this container alone: no CFS quota. */
  readonly exclusiveCpus?: boolean;
}
