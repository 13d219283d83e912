/** How far a certificate of the node is, and what people are told of it. */
import { assertNever } from '../../base/assert-never.ts';
import type { EventText } from '../../model/event.ts';

export type CertificateProgress =
  | { readonly kind: 'good' }
  | { readonly kind: 'waiting'; readonly reason: string }
  /** The request is there, and no one has decided on it. `since`: wall clock, ms. */
  | { readonly kind: 'pending'; readonly request: string; readonly since: number }
  | { readonly kind: 'failed'; readonly problem: string; readonly nextTryAt: number };

/** The event at a step from one state to another; undefined where it is no news. */
export function progressEvent(before: CertificateProgress, now: CertificateProgress): EventText | undefined {
  switch (now.kind) {
    case 'pending':
      return {
        type: 'Warning',
        reason: 'ServingCertificatePending',
        message: `The certificate signing request ${now.request} waits for approval (kubectl certificate approve ${now.request}); until then the server of this node shows a self-signed certificate`,
      };
    case 'failed':
      if (before.kind === 'failed' && before.problem === now.problem) return undefined;
      return { type: 'Warning', reason: 'ServingCertificateFailed', message: now.problem };
    case 'good':
      if (before.kind === 'good') return undefined;
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

/** The condition ServingCertificateReady of a node whose serving certificate the cluster signs. */
export function progressCondition(progress: CertificateProgress): {
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
} {
  switch (progress.kind) {
    case 'good':
      return { isTrue: true, reason: 'Issued', message: 'the serving certificate is signed by the cluster' };
    case 'waiting':
      return { isTrue: false, reason: 'Waiting', message: progress.reason };
    case 'pending':
      return {
        isTrue: false,
        reason: 'Pending',
        message: `certificate signing request ${progress.request} waits for approval`,
      };
    case 'failed':
      return { isTrue: false, reason: 'Failed', message: progress.problem };
    default:
      return assertNever(progress);
  }
}
