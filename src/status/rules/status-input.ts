/** All that the status of a pod is made from. */

import type { Pod } from '../../api/pod.ts';
import type { PodPhase, PodStatus, QosClass } from '../../api/pod-status.ts';
import type { Allocation, PodResize } from '../../model/allocation.ts';
import type { DeviceHealth } from '../../model/device.ts';
import type { Observation } from '../../model/observation.ts';
import type { WaitingReason } from '../../model/plan.ts';
import type { PodStep } from '../../model/pod-view.ts';
import type { ProbeResults } from '../../model/probe-results.ts';

/** Why a pod ends although its containers have not all done so. */
export interface EndReason {
  /** Without it the phase follows from the containers, as for a deleted pod. */
  readonly phase?: PodPhase;
  readonly reason: string;
  readonly message: string;
  /** The kubelet itself took the pod away (eviction, preemption, node shutdown). */
  readonly disruption?: { readonly reason: string; readonly message: string };
}

export interface StatusGates {
  readonly podReadyToStartContainers: boolean;
  readonly containerStopSignals: boolean;
  readonly podLevelResources: boolean;
  /** The pod as a whole has `resources` and `allocatedResources`. */
  readonly inPlacePodLevelResources: boolean;
  readonly restartAllContainers: boolean;
}

export interface StatusInput {
  readonly pod: Pod;
  readonly step: PodStep;
  readonly observation: Observation;
  readonly probes: ProbeResults;
  /** Why a container that should run does not, by name. */
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  /** The containers that are being started now, by name. */
  readonly starting: ReadonlySet<string>;
  /** What was last computed; else what the API server had. */
  readonly previous: PodStatus | undefined;
  readonly ended: EndReason | undefined;
  /** How far its resize is. */
  readonly resize?: PodResize | undefined;
  /** The resources that were last given to what runs of it. */
  readonly inForce?: Allocation | undefined;
  readonly qosClass: QosClass;
  /** The node's own, the preferred family first; empty where they are not known. */
  readonly nodeIps: readonly string[];
  /** What container ids begin with, such as `containerd`. */
  readonly runtimeName: string;
  /** The runtime can make a whole tree of mounts read-only. */
  readonly recursiveReadOnly: boolean;
  /** When the kubelet first had the pod, wall clock, milliseconds. */
  readonly startedAt: number;
  readonly now: number;
  /** The devices that a container has, by resource. */
  readonly deviceHealth?: (container: string) => readonly DeviceHealth[];
  readonly gates: StatusGates;
}
