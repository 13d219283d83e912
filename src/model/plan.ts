/** What was decided about a pod: the actions that its worker carries out, each with its reason. */
import type { ContainerId, SandboxId } from '../api/ids.ts';
import type { PodPhase } from '../api/pod-status.ts';
import type { EventText } from './event.ts';

export type ContainerRole = 'init' | 'sidecar' | 'regular' | 'ephemeral';

export type Action =
  | { readonly kind: 'sandbox-create'; readonly attempt: number; readonly reason: string }
  | { readonly kind: 'sandbox-stop'; readonly id: SandboxId; readonly reason: string }
  | {
      readonly kind: 'container-start';
      readonly name: string;
      readonly role: ContainerRole;
      /** Restart count of the new container. */
      readonly attempt: number;
      readonly reason: string;
    }
  | {
      readonly kind: 'container-stop';
      readonly id: ContainerId;
      readonly name: string;
      readonly role: ContainerRole;
      /** Shown in the Killing event, in the reference's words. */
      readonly message: string;
      /** Why: decides whose grace period counts. */
      readonly reason: StopReason;
      /** Time for the preStop hook and the process together; `undefined` stands for the pod's own. */
      readonly graceSeconds: number | undefined;
      /** The hook runs at once, but the signal is sent only when these have ended, or when the grace is used up. */
      readonly after?: readonly ContainerId[];
    }
  /** Changes the limits of the pod and of these containers, which run on. Those that only shrink come first. */
  | {
      readonly kind: 'pod-resize';
      readonly containers: readonly ResizedContainer[];
      /** The containers that start with other resources, where the pod is resized for them alone: it can wait until they do. */
      readonly startsOf?: readonly string[];
      readonly reason: string;
    }
  | { readonly kind: 'container-remove'; readonly id: ContainerId; readonly name: string; readonly reason: string }
  | { readonly kind: 'sandbox-remove'; readonly id: SandboxId; readonly reason: string };

export interface ResizedContainer {
  readonly name: string;
  readonly id: ContainerId;
  /** Something that it may use becomes more. */
  readonly grows: boolean;
  /** Bytes; set where its memory is limited to less than before: it must not use more than that. */
  readonly memoryLimit?: number;
}

/** The reference's tags; the empty one is a changed definition. */
export type StopReason =
  | 'LivenessProbe'
  | 'StartupProbe'
  | 'FailedPostStartHook'
  | 'RestartAllContainers'
  | 'Unknown'
  | '';

/** An event that follows from the decision and from no single action. */
export interface PlanEvent extends Omit<EventText, 'annotations'> {
  /** Field path such as `spec.containers{c}`; without it the event is about the pod. */
  readonly container?: string;
}

/** Why a container that should run does not: kept by the worker from its last outcome, shown as the waiting reason. */
export interface WaitingReason {
  readonly reason: string;
  readonly message: string;
}

/** Why the plan leaves a container alone that should run: explanations are made of it. */
export type HeldContainer =
  | {
      readonly kind: 'back-off';
      /** How the container ended, and when. */
      readonly exitCode: number;
      readonly reason: string;
      readonly message: string;
      readonly finishedAt: number;
      /** How often it has ended. */
      readonly crashes: number;
      /** When it starts again. */
      readonly until: number;
    }
  /** An init container comes first, and has to have succeeded, or started where it is a sidecar. */
  | { readonly kind: 'init'; readonly container: string; readonly until: 'succeeded' | 'started' };

/** A crash after which the container was started again, and the wait after the next one. See plan/back-off.ts. */
export interface CrashRecord {
  readonly waitMs: number;
  /** When the crashed container ended, wall clock. */
  readonly since: number;
}

/** Why a pod must end although its containers have not ended. */
export interface PodEnd {
  readonly phase: PodPhase;
  readonly reason: string;
  readonly message: string;
}

export interface Plan {
  /**
   * In this order: container stops that stand next to each other run side by side, everything else waits for what stands
   * before it. When a stop, a removal or the sandbox fails, the rest waits for the next plan; a container that can't be
   * started holds the rest up only if it is an init container.
   */
  readonly actions: readonly Action[];
  /** Another pass is due at this time (wall clock, ms) although nothing happened: a back-off or a deadline ends. */
  readonly retryAt: number | undefined;
  /** Waiting reasons that follow from the decision itself (CrashLoopBackOff), by container name. */
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  /** By container name. */
  readonly held: ReadonlyMap<string, HeldContainer>;
  /** The crash records as they are after this decision: the worker keeps them for the next one. */
  readonly crashes: ReadonlyMap<string, CrashRecord>;
  /** Every container ended for good and the sandbox can go: the pod has finished. */
  readonly finished: boolean;
  readonly events: readonly PlanEvent[];
  /** Something that runs has other resources than are allocated to it. */
  readonly resizing: boolean;
  /** Set when the pod's own deadline has passed: no action then: the pod is terminated. */
  readonly end: PodEnd | undefined;
}
