/** How long each kind of CRI call may take before we give it up, in milliseconds. */
export interface CriTimeouts {
  /** `runtimeRequestTimeout`: what has no rule of its own. */
  readonly request: number;
  /** Version and Status: they show whether the runtime is alive, so they must be answered soon. */
  readonly health: number;
  /** Added to what a call allows the runtime itself (StopContainer's grace, ExecSync's and CheckpointContainer's timeout). */
  readonly margin: number;
}

export const DEFAULT_CRI_TIMEOUTS: CriTimeouts = { request: 120_000, health: 10_000, margin: 2_000 };

/** Twice the usual, as in the reference: an external program sets up the network of a sandbox. */
export function runSandboxDeadline({ request }: CriTimeouts): number {
  return request * 2;
}

/** The runtime kills after the grace and may need the usual time for that. */
export function stopContainerDeadline({ request }: CriTimeouts, graceSeconds: number): number {
  return request + Math.max(graceSeconds, 0) * 1000;
}

/**
 * The runtime ends the process at its timeout and says so; the margin lets that answer arrive, and a runtime that doesn't
 * keep its own limit is given up right after. No timeout: no deadline.
 */
export function execSyncDeadline({ margin }: CriTimeouts, timeoutSeconds: number): number | undefined {
  return timeoutSeconds > 0 ? timeoutSeconds * 1000 + margin : undefined;
}

export function checkpointDeadline({ request, margin }: CriTimeouts, timeoutSeconds: number): number {
  return timeoutSeconds > 0 ? timeoutSeconds * 1000 + margin : request;
}
