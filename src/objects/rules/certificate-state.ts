/**
 * The life of one certificate of a pod.
 *
 *   none ──asked──► asked ──issued──► held ──time to renew──► renewing ──issued──► held
 *                     └───refused──► refused ◄──────refused──────┘
 *
 * A request that was taken away leads back to `none` or `held`, from where it is made anew.
 */
import { parseTimestamp } from '../../api/timestamp.ts';
import { certificatePem, pemBlocks } from './pem.ts';

export interface AskedFor {
  readonly requestName: string;
  readonly privateKey: string;
  /** Not seen until then: somebody has deleted it before we saw it. */
  readonly abandonAt: number;
}

export interface Held {
  readonly privateKey: string;
  readonly chain: string;
  readonly refreshAt: number;
  readonly expiresAt: number;
  /** What was told about this one already. */
  readonly told: readonly string[];
}

export type CertificateState =
  | { readonly kind: 'none' }
  | { readonly kind: 'asked'; readonly asked: AskedFor }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'held'; readonly held: Held }
  | { readonly kind: 'renewing'; readonly held: Held; readonly asked: AskedFor };

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

/** What the API server and time make of it. */
export function nextCertificateState(state: CertificateState, input: CertificateInput): CertificateStep {
  switch (state.kind) {
    case 'none':
    case 'refused':
      return { state, events: [] };
    case 'asked':
      return afterRequest(state, { kind: 'none' }, state.asked, input);
    case 'held': {
      const { held, events } = tellAge(state.held, input.now);
      return { state: { kind: 'held', held }, events };
    }
    case 'renewing': {
      const step = afterRequest(state, { kind: 'held', held: state.held }, state.asked, input);
      if (step.state.kind !== 'renewing') return step;
      const { held, events } = tellAge(state.held, input.now);
      return { state: { ...step.state, held }, events };
    }
  }
}

/** It is time for a new request: after nothing, and when what is held grows old. */
export function wantsRequest(state: CertificateState, now: number): boolean {
  return state.kind === 'none' || (state.kind === 'held' && now >= state.held.refreshAt);
}

export function withRequest(state: CertificateState, asked: AskedFor): CertificateState {
  return state.kind === 'held' ? { kind: 'renewing', held: state.held, asked } : { kind: 'asked', asked };
}

/** When to look again, if nothing happens before. */
export function nextLookAt(state: CertificateState, now: number): number | undefined {
  switch (state.kind) {
    case 'none':
    case 'refused':
      return undefined;
    case 'asked':
      return state.asked.abandonAt;
    case 'held':
      return state.held.refreshAt;
    case 'renewing': {
      const { refreshAt, expiresAt } = state.held;
      const times = [state.asked.abandonAt, refreshAt + OVERDUE_MS, expiresAt].filter((time) => time > now);
      return times.length === 0 ? undefined : Math.min(...times);
    }
  }
}

function afterRequest(
  state: CertificateState,
  without: CertificateState,
  asked: AskedFor,
  { now, request, requestName, jitterMs }: CertificateInput,
): CertificateStep {
  if (request === 'gone') return { state: without, events: [] };
  if (request === 'unseen') return { state: now >= asked.abandonAt ? without : state, events: [] };
  for (const { type, reason = '', message = '' } of request.conditions) {
    const words = `reason=${JSON.stringify(reason)}, message=${JSON.stringify(message)}`;
    if (type === 'Denied')
      return refused(type, 'denied', `PodCertificateRequest ${requestName} was denied, ${words}`, { reason, message });
    if (type === 'Failed')
      return refused(type, 'failed', `PodCertificateRequest ${requestName} failed, ${words}`, { reason, message });
    if (type === 'Issued') return { state: { kind: 'held', held: heldOf(asked, request, jitterMs) }, events: [] };
  }
  return { state, events: [] };
}

function refused(
  type: string,
  verb: string,
  told: string,
  { reason, message }: { readonly reason: string; readonly message: string },
): CertificateStep {
  const text = `reason=${JSON.stringify(reason)} message=${JSON.stringify(message)}`;
  return {
    state: { kind: 'refused', message: `PodCertificateRequest was permanently ${verb}: ${text}` },
    events: [{ reason: type, message: told }],
  };
}

function heldOf({ privateKey }: AskedFor, request: CertificateRequest, jitterMs: number): Held {
  return {
    privateKey,
    chain: certificatePem(pemBlocks(request.certificateChain)),
    refreshAt: (parseTimestamp(request.beginRefreshAt) ?? 0) + jitterMs,
    expiresAt: parseTimestamp(request.notAfter) ?? 0,
    told: [],
  };
}

function tellAge(held: Held, now: number): { readonly held: Held; readonly events: readonly CertificateEvent[] } {
  const due = [
    {
      reason: 'CertificateOverdueForRefresh',
      message: 'PodCertificate refresh overdue',
      at: held.refreshAt + OVERDUE_MS,
    },
    { reason: 'CertificateExpired', message: 'PodCertificate expired', at: held.expiresAt },
  ].filter(({ reason, at }) => now > at && !held.told.includes(reason));
  if (due.length === 0) return { held, events: [] };
  const told = [...held.told, ...due.map(({ reason }) => reason)];
  return { held: { ...held, told }, events: due.map(({ reason, message }) => ({ reason, message })) };
}
