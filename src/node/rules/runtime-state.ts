/**
 * What is known of the container runtime, and how it changes with each status request.
 *
 *   unknown ──answered──► answering ◄──answered / failed──► silent ◄──failed── unknown
 *
 * What the runtime said last stays known while it is silent: it may only be restarting.
 */
import type { RuntimeFeatures, RuntimeHandler, StatusResponse } from '../../wire/gen/cri-runtime-v1.ts';
import type { RuntimeVersion } from './node-info.ts';
import { judgeRuntimeConditions, NETWORK_UNKNOWN, RUNTIME_AWAY_MS, type RuntimeReport } from './readiness.ts';

export interface RuntimeFacts {
  readonly report: RuntimeReport;
  readonly version: RuntimeVersion;
  readonly handlers: readonly RuntimeHandler[];
  readonly features: RuntimeFeatures | undefined;
}

export type RuntimeState =
  /** No request has ended yet. */
  | { readonly kind: 'unknown'; readonly facts: RuntimeFacts }
  | { readonly kind: 'answering'; readonly facts: RuntimeFacts }
  /** The last request failed. */
  | { readonly kind: 'silent'; readonly facts: RuntimeFacts };

export type RuntimeEvent =
  | {
      readonly kind: 'answered';
      readonly status: StatusResponse;
      readonly version: RuntimeVersion;
      /** When the answer came, monotonic. */
      readonly mono: number;
    }
  | { readonly kind: 'failed' };

export const UNKNOWN_RUNTIME: RuntimeState = {
  kind: 'unknown',
  facts: {
    report: { lastReadyAt: undefined, runtimeProblem: undefined, networkProblem: NETWORK_UNKNOWN },
    version: { name: 'containerd', version: undefined },
    handlers: [],
    features: undefined,
  },
};

export function nextRuntimeState({ facts }: RuntimeState, event: RuntimeEvent): RuntimeState {
  if (event.kind === 'failed') return { kind: 'silent', facts };
  const { status, version, mono } = event;
  const report = { ...facts.report, ...judgeRuntimeConditions(status.status?.conditions ?? []) };
  // A runtime that is not ready may not know its handlers yet: those of its last good answer stay.
  if (report.runtimeProblem !== undefined) return { kind: 'answering', facts: { ...facts, version, report } };
  const { runtimeHandlers: handlers, features } = status;
  return { kind: 'answering', facts: { version, handlers, features, report: { ...report, lastReadyAt: mono } } };
}

/** What of the state is worth a line in the log and a new node status; equal texts mean that nothing of it has changed. */
export function describeRuntimeState({ kind, facts }: RuntimeState, mono: number): string {
  const { lastReadyAt, runtimeProblem, networkProblem } = facts.report;
  const isAway = lastReadyAt === undefined || mono - lastReadyAt >= RUNTIME_AWAY_MS;
  return JSON.stringify([kind, isAway, runtimeProblem, networkProblem]);
}

/** A starting node becomes Ready as soon as its runtime is. */
const STARTING_MS = 200;
const STARTING_FOR_MS = 120_000;
const UNREADY_MS = 1000;
const READY_MS = 5000;

/** How long to wait before the next status request. */
export function pauseAfter({ kind, facts }: RuntimeState, sinceStartMs: number): number {
  const { lastReadyAt, runtimeProblem, networkProblem } = facts.report;
  if (kind === 'answering' && runtimeProblem === undefined && networkProblem === undefined) return READY_MS;
  const isStarting = lastReadyAt === undefined || networkProblem !== undefined;
  return isStarting && sinceStartMs < STARTING_FOR_MS ? STARTING_MS : UNREADY_MS;
}
