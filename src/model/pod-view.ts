/** What a worker publishes of its pod in each pass. The other parts read views; no part calls a worker. */
import type { ContainerId, PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Allocation, PodResize } from './allocation.ts';
import type { PodExplanation } from './explanation.ts';
import type { Observation } from './observation.ts';
import type { Plan, PodEnd, WaitingReason } from './plan.ts';

/** Why a pod ended that did not end by itself. */
export interface PodEnding extends PodEnd {
  /** It was not admitted. */
  readonly rejected?: boolean;
  /** The node was being shut down or drained. A static pod begins again when the node is open again; it then counts as never ended. */
  readonly whileClosed?: boolean;
  /** The kubelet ended it for other pods or for the node (eviction, preemption, shutdown): shown as a condition. */
  readonly disruption?: { readonly reason: string; readonly message: string };
}

/** The reason of a pod that was ended because the node, or the pod itself, used too much. */
export const EVICTED = 'Evicted';

/** Where a worker is with its pod, as it publishes it. A pod that is gone has no view. */
export type PodStep = 'syncing' | 'terminating' | 'terminated';

/** What the worker remembers of a container by name; nothing of it is needed to recover after a restart. */
export interface ContainerMemory {
  /** The last attempt to start it failed, or it must wait: ErrImagePull, CreateContainerConfigError, CrashLoopBackOff… */
  readonly waiting: WaitingReason | undefined;
  /** The container ids whose postStart hook failed: they are killed and count as failed. */
  readonly failedHooks: ReadonlySet<ContainerId>;
}

export interface PodView {
  readonly uid: PodUid;
  /** With the resources that are allocated to it, which are not always those that its spec requests. */
  readonly pod: Pod;
  /** As its source has it, where that requests other resources than are allocated to it. */
  readonly asked?: Pod | undefined;
  /** How far its resize is. */
  readonly resize?: PodResize | undefined;
  /** The resources that were last given to what runs of it. */
  readonly inForce?: Allocation | undefined;
  readonly step: PodStep;
  readonly observation: Observation;
  /** The last decision, with its reasons; none while the pod ends. */
  readonly plan: Plan | undefined;
  /** Why the pod is as it is. Kept up to date also in the middle of a pass, when no one is notified. */
  readonly explanation: PodExplanation;
  /** By container name: why it waits. */
  readonly memory: ReadonlyMap<string, ContainerMemory>;
  /** When the pod began on this node, under any kubelet: its deadline counts from here. Wall clock, ms. */
  readonly startedAt: number;
  /** When this kubelet first had the pod, or the start time that an earlier one reported to the API server. Wall clock, ms. */
  readonly acknowledgedAt: number;
  /** Set for a pod that was ended for a reason of its own (rejected, evicted, past its deadline). */
  readonly ended: PodEnding | undefined;
  /** No source has it any more. */
  readonly deleted: boolean;
}

export type PodUpdate = PodUpdateOf<keyof PodView>;

/** An update with the fields of the view that a part reads. */
export type PodUpdateOf<Field extends keyof PodView> =
  | { readonly kind: 'view'; readonly view: Pick<PodView, Field> }
  | { readonly kind: 'gone'; readonly uid: PodUid; readonly pod: Pod };
