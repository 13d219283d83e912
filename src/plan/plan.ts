/** The front door of the decisions: the tagged actions that a worker carries out, each with its reason. */
import type { ContainerId, SandboxId } from '../api/ids.ts';
import type { CrashRecord, WaitingReason } from './snapshot.ts';

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
      /** Why, as the reference tags it: livenessProbe, startupProbe, unknown… decides whose grace period counts. */
      readonly reason: string;
      /** Overrides the pod's grace period (a probe's own, for one), in seconds. */
      readonly graceSeconds: number | undefined;
    }
  | { readonly kind: 'container-remove'; readonly id: ContainerId; readonly name: string; readonly reason: string };

export interface Plan {
  /** In this order. Stops of one plan may run side by side; starts of regular containers follow their order in the pod. */
  readonly actions: readonly Action[];
  /** Look again at this time (wall clock, ms) although nothing happened: a back-off or a deadline ends. */
  readonly retryAt: number | undefined;
  /** Waiting reasons that follow from the decision itself (CrashLoopBackOff), by container name. */
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  /** The crash records as they are after this decision: the worker keeps them for the next one. */
  readonly crashes: ReadonlyMap<string, CrashRecord>;
  /** Every container ended for good and the sandbox can go: the pod has finished. */
  readonly finished: boolean;
}
