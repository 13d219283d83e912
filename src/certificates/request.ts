/** Asks the API server for a certificate: creates a CertificateSigningRequest and waits until somebody has decided on it. */
import { apiPath, apiPathBelow, fieldEquals } from '../api/api-path.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { withDeadline } from '../base/signal.ts';
import type { Kube, WatchListener } from '../kube/kube.ts';
import { isRequestOf, nameOfRequest, signRequest } from './key.ts';
import { type CertificatePair, makePair } from './pair.ts';
import type { CertificateTemplate } from './rules/certificate-request.ts';
import { type SigningRequest, type SigningState, signingState } from './rules/signing-request.ts';

/** What of the API server's access is used here. */
export type SigningApi = Pick<Kube, 'general' | 'watch'>;

export interface CertificateOrder {
  readonly template: CertificateTemplate;
  readonly signerName: string;
  readonly usages: readonly string[];
  /** PEM. */
  readonly key: string;
  /** Under a name that follows from the key, so that a restarted kubelet finds it; otherwise the API server chooses one. */
  readonly isNamed: boolean;
  /** How long somebody has to decide. */
  readonly waitMs: number;
  /** Called when the request is there and not yet decided. */
  onPending(name: string): void;
}

const REQUESTS = apiPath`/apis/certificates.k8s.io/v1/certificatesigningrequests`;

/**
 * Rejects with code `denied` where the request was denied, `invalid` where it failed, `deadline` where no one decided in time, or as the
 * API server's client does.
 */
export async function requestCertificate(
  { clock, log, api }: { readonly clock: Clock; readonly log: Logger; readonly api: SigningApi },
  order: CertificateOrder,
  signal: AbortSignal,
): Promise<CertificatePair> {
  using within = withDeadline(clock, order.waitMs, 'the certificate signing request', signal);
  const { made, wasThere } = await create(api, order, within.signal);
  const { name, uid } = made.metadata;
  log.info('Certificate signing request created', { csr: name, signer: order.signerName });
  if (signingState(made).kind === 'pending') order.onPending(name);
  const certificate = await waitUntilIssued(api, { name, uid }, within.signal);
  const pair = makePair(Buffer.from(certificate, 'base64').toString('latin1'), order.key);
  if (pair.facts.notAfter > clock.now()) return pair;
  // One that was issued just now and has expired by our clock will be good when the clock is right again; an older one never.
  throw new CodedError('invalid', `the certificate of ${name} has expired`, { data: { isStale: wasThere } });
}

/** `wasThere`: a kubelet with the same key has made it before. */
async function create(
  api: SigningApi,
  order: CertificateOrder,
  signal: AbortSignal,
): Promise<{ readonly made: SigningRequest; readonly wasThere: boolean }> {
  const { template, signerName, usages, key, isNamed } = order;
  const name = nameOfRequest(template, key, usages);
  const request = Buffer.from(signRequest(template, key)).toString('base64');
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: isNamed ? { name } : { generateName: 'csr-' },
    spec: { request, signerName, usages },
  };
  try {
    const made = await api.general.request<SigningRequest>({ method: 'POST', path: REQUESTS, body }, signal);
    return { made, wasThere: false };
  } catch (error) {
    if (!isNamed || codeOf(error) !== 'exists') throw error;
    const found = await api.general.request<SigningRequest>(
      { method: 'GET', path: apiPathBelow(REQUESTS, name) },
      signal,
    );
    checkIsOurs(found, order);
    return { made: found, wasThere: true };
  }
}

function checkIsOurs({ metadata, spec }: SigningRequest, { signerName, key }: CertificateOrder): void {
  const request = Buffer.from(spec?.request ?? '', 'base64').toString('latin1');
  if (spec?.signerName === signerName && isRequestOf(request, key)) return;
  throw new CodedError('conflict', `the certificate signing request ${metadata.name} is for another key or signer`);
}

/** Base64 of PEM. */
async function waitUntilIssued(
  api: SigningApi,
  { name, uid }: { readonly name: string; readonly uid: string },
  signal: AbortSignal,
): Promise<string> {
  const decided = Promise.withResolvers<string>();
  const onAbort = () => decided.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const gone = () => decided.reject(new CodedError('gone', `the certificate signing request ${name} was deleted`));
  const look = (object: SigningRequest) => {
    if (object.metadata.uid !== uid) gone();
    else settle(signingState(object), decided);
  };
  const listener: WatchListener<SigningRequest> = {
    replaced: ([object]) => (object === undefined ? gone() : look(object)),
    changed: look,
    removed: gone,
  };
  const watch: Part = api.watch({ path: REQUESTS, fieldSelector: fieldEquals('metadata.name', name), listener });
  try {
    if (!signal.aborted) await watch.start(signal);
    else onAbort();
    return await decided.promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    await watch.stop?.();
  }
}

function settle(state: SigningState, decided: PromiseWithResolvers<string>): void {
  if (state.kind === 'issued') decided.resolve(state.certificate);
  if (state.kind === 'denied') decided.reject(new CodedError('denied', state.message, { data: { wasDenied: true } }));
  if (state.kind === 'failed') decided.reject(new CodedError('invalid', state.message));
}
