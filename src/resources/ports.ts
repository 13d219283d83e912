/** What the pass that assigns particular resources of the node to pods needs of those that have them. */
import type { Container } from '../api/container.ts';
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Assigned, AssignmentRequest, ContainerAssignment, TopologyHints } from '../model/assignment.ts';

/** CPUs, memory, devices: each is a provider. Hints are read from memory; the other functions may wait for a disk or for another program. */
export interface HintProvider {
  /** For the log, such as `devices`. */
  readonly name: string;
  /** Whether the pod requests anything of this provider. A pod of which no provider has anything is admitted at once. */
  concerns(pod: Pod): boolean;
  /** For what is already allocated to this container the hints are what it has. */
  hintsFor(pod: Pod, container: Container): TopologyHints;
  /** Of all containers of the pod together, for the topology scope `pod`. */
  hintsForPod(pod: Pod): TopologyHints;
  /**
   * Decides what the container gets. Called for init containers first, then for regular ones, in their order, and for one pod at a time.
   * What the container has already stays. Where it refuses, the caller releases the pod.
   */
  allocate(request: AssignmentRequest, signal: AbortSignal): Promise<Assigned>;
  /**
   * Decides what a pod with resources of its own gets as a whole, in the topology scope `pod` with the gate PodLevelResourceManagers. A provider
   * without it decides for each container.
   */
  allocatePod?(request: Omit<AssignmentRequest, 'container'>, signal: AbortSignal): Promise<Assigned>;
  /**
   * The slow part, after every provider has decided on every container of the pod: calls to other programs, and the disk. Other pods are
   * assigned meanwhile. On disk when it resolves. Where it refuses, the caller releases the pod.
   */
  complete(pod: Pod, signal: AbortSignal): Promise<Assigned>;
  /** What the request that creates the container gets; rejects where it can't be created now, with a text for its status. */
  prepare(pod: Pod, container: Container, signal: AbortSignal): Promise<ContainerAssignment>;
  /** The pod has ended, or was refused: others may have what it had. */
  release(uid: PodUid): void;
}
