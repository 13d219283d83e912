/**
 * The life of one certificate of a pod.
 *
 *   none ──requested──► requested ──issued──► held ──time to renew──► renewing ──issued──► held
 *                     └───refused──► refused ◄──────refused──────┘
 *
 * A request that was deleted leads back to `none` or `held`, from where a new one is made.
 */
import { parseTimestamp } from '../../api/timestamp.ts';
import { certificatePem, pemBlocks } from './pem.ts';

export interface PendingRequest {
  readonly requestName: string;
  readonly privateKey: string;
  /** Not seen until then: it was deleted before the watch showed it. */
  readonly abandonAt: number;
}

export interface Held {
  readonly privateKey: string;
  readonly chain: string;
  readonly refreshAt: number;
  readonly expiresAt: number;
  /** Reasons of the events about this certificate that were recorded already. */
  readonly reported: readonly string[];
}

export type CertificateState =
  | { readonly kind: 'none' }
  | { readonly kind: 'requested'; readonly pending: PendingRequest }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'held'; readonly held: Held }
  | { readonly kind: 'renewing'; readonly held: Held; readonly pending: PendingRequest };

/** A PodCertificateRequest, as far as it is read. */
export interface CertificateRequest {
  readonly name: string;
  readonly conditions: readonly { readonly type: string; readonly reason?: string; readonly message?: string }[];
  readonly certificateChain: string;
  readonly beginRefreshAt: string;
  readonly notAfter: string;
}

export interface CertificateInput {
  readonly now: number;
  /** The request that is waited for, as it is now; `gone`: it was seen, and was deleted. */
  readonly request: CertificateRequest | 'unseen' | 'gone';
  /** The whole name, for texts. */
  readonly requestName: string;
  readonly jitterMs: number;
}

export interface CertificateEvent {
  readonly reason: string;
  readonly message: string;
}

export interface CertificateStep {
  readonly state: CertificateState;
  readonly events: readonly CertificateEvent[];
}

const OVERDUE_MS = 10 * 60_000;

/** The state after what the API server and the clock say now. */
export function nextCertificateState(state: CertificateState, input: CertificateInput): CertificateStep {
  switch (state.kind) {
    case 'none':
    case 'refused':
      return { state, events: [] };
    case 'requested':
      return afterRequest(state, { kind: 'none' }, state.pending, input);
    case 'held': {
      const { held, events } = reportAge(state.held, input.now);
      return { state: { kind: 'held', held }, events };
    }
    case 'renewing': {
      const step = afterRequest(state, { kind: 'held', held: state.held }, state.pending, input);
      if (step.state.kind !== 'renewing') return step;
      const { held, events } = reportAge(state.held, input.now);
      return { state: { ...step.state, held }, events };
    }
  }
}

/** A new request is due: there is none yet, or the certificate must be renewed. */
export function needsRequest(state: CertificateState, now: number): boolean {
  return state.kind === 'none' || (state.kind === 'held' && now >= state.held.refreshAt);
}

export function withRequest(state: CertificateState, pending: PendingRequest): CertificateState {
  return state.kind === 'held' ? { kind: 'renewing', held: state.held, pending } : { kind: 'requested', pending };
}

/** When to check again, if nothing happens before. */
export function nextCheckAt(state: CertificateState, now: number): number | undefined {
  switch (state.kind) {
    case 'none':
    case 'refused':
      return undefined;
    case 'requested':
      return state.pending.abandonAt;
    case 'held':
      return state.held.refreshAt;
    case 'renewing': {
      const { refreshAt, expiresAt } = state.held;
      const times = [state.pending.abandonAt, refreshAt + OVERDUE_MS, expiresAt].filter((time) => time > now);
      return times.length === 0 ? undefined : Math.min(...times);
    }
  }
}

function afterRequest(
  state: CertificateState,
  without: CertificateState,
  pending: PendingRequest,
  { now, request, requestName, jitterMs }: CertificateInput,
): CertificateStep {
  if (request === 'gone') return { state: without, events: [] };
  if (request === 'unseen') return { state: now >= pending.abandonAt ? without : state, events: [] };
  for (const { type, reason = '', message = '' } of request.conditions) {
    const details = `reason=${JSON.stringify(reason)}, message=${JSON.stringify(message)}`;
    if (type === 'Denied')
      return refused(type, 'denied', `PodCertificateRequest ${requestName} was denied, ${details}`, {
        reason,
        message,
      });
    if (type === 'Failed')
      return refused(type, 'failed', `PodCertificateRequest ${requestName} failed, ${details}`, { reason, message });
    if (type === 'Issued') return { state: { kind: 'held', held: heldOf(pending, request, jitterMs) }, events: [] };
  }
  return { state, events: [] };
}

function refused(
  type: string,
  verb: string,
  reported: string,
  { reason, message }: { readonly reason: string; readonly message: string },
): CertificateStep {
  const text = `reason=${JSON.stringify(reason)} message=${JSON.stringify(message)}`;
  return {
    state: { kind: 'refused', message: `PodCertificateRequest was permanently ${verb}: ${text}` },
    events: [{ reason: type, message: reported }],
  };
}

function heldOf({ privateKey }: PendingRequest, request: CertificateRequest, jitterMs: number): Held {
  return {
    privateKey,
    chain: certificatePem(pemBlocks(request.certificateChain)),
    refreshAt: (parseTimestamp(request.beginRefreshAt) ?? 0) + jitterMs,
    expiresAt: parseTimestamp(request.notAfter) ?? 0,
    reported: [],
  };
}

function reportAge(held: Held, now: number): { readonly held: Held; readonly events: readonly CertificateEvent[] } {
  const due = [
    {
      reason: 'CertificateOverdueForRefresh',
      message: 'PodCertificate refresh overdue',
      at: held.refreshAt + OVERDUE_MS,
    },
    { reason: 'CertificateExpired', message: 'PodCertificate expired', at: held.expiresAt },
  ].filter(({ reason, at }) => now > at && !held.reported.includes(reason));
  if (due.length === 0) return { held, events: [] };
  const reported = [...held.reported, ...due.map(({ reason }) => reason)];
  return { held: { ...held, reported }, events: due.map(({ reason, message }) => ({ reason, message })) };
}
