/** What a worker publishes of its pod after each pass. Everybody else reads views; nobody asks a worker. */
import type { PodUid } from '../api/ids.ts';
import type { Pod } from '../api/pod.ts';
import type { Observation } from '../plan/observation.ts';
import type { Plan, PodEnd } from '../plan/plan.ts';
import type { ContainerMemory } from '../plan/snapshot.ts';

/** Why a pod ended that did not end by itself. */
export interface PodEnding extends PodEnd {
  /** It was never let in. */
  readonly rejected?: boolean;
  /** The kubelet took it away for the sake of others (eviction, preemption, shutdown): told as a condition. */
  readonly disruption?: { readonly reason: string; readonly message: string };
}

export interface PodView {
  readonly uid: PodUid;
  /** With the resources that it was given, which are not always those that its spec asks for. */
  readonly pod: Pod;
  /** As its source has it, where that asks for a resize that is refused. */
  readonly asked?: Pod | undefined;
  readonly step: 'syncing' | 'terminating' | 'terminated';
  readonly observation: Observation;
  /** The last decision, with its reasons; none while the pod ends. */
  readonly plan: Plan | undefined;
  /** By container name: why it waits. */
  readonly memory: ReadonlyMap<string, ContainerMemory>;
  /** When the pod began on this node, under whichever kubelet: its deadline counts from here. Wall clock, ms. */
  readonly startedAt: number;
  /** When this kubelet first had the pod, or what an earlier one told the API server of that. Wall clock, ms. */
  readonly acknowledgedAt: number;
  /** Set for a pod that was ended for a reason of its own (rejected, evicted, past its deadline). */
  readonly ended: PodEnding | undefined;
  /** No source wants it any more. */
  readonly deleted: boolean;
}

export type PodNews =
  | { readonly kind: 'view'; readonly view: PodView }
  | { readonly kind: 'gone'; readonly uid: PodUid; readonly pod: Pod };
