/** How far a certificate of the node is, and what is reported of it. */
import { assertNever } from '../../base/assert-never.ts';
import type { EventText } from '../../model/event.ts';

export type CertificateProgress =
  | { readonly kind: 'good' }
  /** For what it is requested is not known yet. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly goodUntil: GoodUntil }
  /** The request is there, and no one has decided on it. */
  | { readonly kind: 'pending'; readonly request: string; readonly goodUntil: GoodUntil }
  | { readonly kind: 'failed'; readonly problem: string; readonly goodUntil: GoodUntil };

/** The end of the certificate that is in use meanwhile, wall clock, ms; undefined: there is none. */
type GoodUntil = number | undefined;

/** The event at a step from one state to another; undefined where nothing new is known: after a restart, for one. */
export function progressEvent(before: CertificateProgress, now: CertificateProgress): EventText | undefined {
  switch (now.kind) {
    case 'pending':
      return {
        type: now.goodUntil === undefined ? 'Warning' : 'Normal',
        reason: 'ServingCertificatePending',
        message: `The certificate signing request ${now.request} waits for approval (kubectl certificate approve ${now.request}); until then the server of this node ${now.goodUntil === undefined ? 'has no certificate that the cluster has signed' : 'goes on with the certificate that it has'}`,
      };
    case 'failed':
      if (before.kind === 'failed' && before.problem === now.problem) return undefined;
      return { type: 'Warning', reason: 'ServingCertificateFailed', message: now.problem };
    case 'good':
      if (before.kind === 'good' || before.kind === 'waiting') return undefined;
      return {
        type: 'Normal',
        reason: 'ServingCertificateIssued',
        message: 'The cluster has signed the serving certificate of this node',
      };
    case 'waiting':
      return undefined;
    default:
      return assertNever(now);
  }
}

const ISSUED = { isTrue: true, reason: 'Issued', message: 'the serving certificate is signed by the cluster' };

/** The condition ServingCertificateReady of a node whose serving certificate the cluster signs. */
export function progressCondition(
  progress: CertificateProgress,
  now: number,
): {
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
} {
  const isGoodStill = 'goodUntil' in progress && progress.goodUntil !== undefined && now < progress.goodUntil;
  switch (progress.kind) {
    case 'good':
      return ISSUED;
    case 'waiting':
      return isGoodStill ? ISSUED : { isTrue: false, reason: 'Waiting', message: progress.reason };
    case 'pending':
      return {
        isTrue: isGoodStill,
        reason: 'Pending',
        message: `certificate signing request ${progress.request} waits for approval`,
      };
    case 'failed':
      return { isTrue: isGoodStill, reason: 'Failed', message: progress.problem };
    default:
      return assertNever(progress);
  }
}
