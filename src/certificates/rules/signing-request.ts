/** CertificateSigningRequest objects: what is sent, and what became of one. */
import type { StringMap } from '../../api/meta.ts';

export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
export const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';

export interface SigningRequest {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion?: string;
    readonly labels?: StringMap;
  };
  readonly spec?: { readonly request?: string; readonly signerName?: string };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly reason?: string; readonly message?: string }[];
    /** PEM in base64. */
    readonly certificate?: string;
  };
}

export type SigningState =
  | { readonly kind: 'pending' }
  | { readonly kind: 'approved' }
  | { readonly kind: 'denied' | 'failed'; readonly message: string }
  | { readonly kind: 'issued'; readonly certificate: string };

export function signingState({ status }: SigningRequest): SigningState {
  const find = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  const denied = find('Denied');
  if (denied !== undefined) return { kind: 'denied', message: describe('is denied', denied) };
  const failed = find('Failed');
  if (failed !== undefined) return { kind: 'failed', message: describe('failed', failed) };
  if (find('Approved') === undefined) return { kind: 'pending' };
  const certificate = status?.certificate ?? '';
  return certificate === '' ? { kind: 'approved' } : { kind: 'issued', certificate };
}

const describe = (what: string, { reason = '', message = '' }: { reason?: string; message?: string }): string =>
  `certificate signing request ${what}, reason: ${JSON.stringify(reason)}, message: ${JSON.stringify(message)}`;

/** RSA keys can also encipher keys; the others can't. */
export const usagesOf = (use: 'client auth' | 'server auth'): readonly string[] => ['digital signature', use];
