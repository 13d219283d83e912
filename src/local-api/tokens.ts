/** `serviceaccounts/token`: tokens that pods project, signed by this node, and how others check them. */
import type { ApiDeps, ApiRequest, ResourceTarget } from './api.ts';
import { conflict, invalidObject, notAllowed, notFound } from './rules/refusal.ts';
import { PODS } from './rules/resources.ts';
import { claimsOf, readTokenRequest, tokenAnswer } from './rules/token-request.ts';

type TokenDeps = Pick<ApiDeps, 'clock' | 'store' | 'newUid' | 'signingKey'>;

const LABELLED = { group: 'authentication.k8s.io', plural: 'tokenrequests', kind: 'TokenRequest' };

export async function issueToken(
  { clock, store, newUid, signingKey }: TokenDeps,
  { method, body, caller }: ApiRequest,
  { resource, namespace, name }: ResourceTarget,
  issuer: string,
): Promise<object> {
  if (method !== 'POST') throw notAllowed();
  const account = store.get({ resource: resource.plural, namespace, name });
  if (account === undefined) throw notFound(resource, name);
  const { request, faults } = readTokenRequest(body);
  if (faults.length > 0) throw invalidObject(LABELLED, name, faults);
  const { uid, bound } = request;
  if (uid !== '' && uid !== account.metadata.uid)
    throw conflict(
      resource,
      name,
      `the UID in the token request (${uid.slice(0, 100)}) does not match the UID of the account`,
    );
  // The kubelet asks for its own pods only, of which the static ones have another UID here.
  if (bound?.kind === 'Pod' && caller.role !== 'node') {
    const pod = store.get({ resource: PODS.plural, namespace, name: bound.name });
    if (pod === undefined) throw notFound(PODS, bound.name);
    if (bound.uid !== '' && bound.uid !== pod.metadata.uid)
      throw conflict(
        PODS,
        bound.name,
        `the UID in the bound object reference (${bound.uid.slice(0, 100)}) does not match the UID of the pod`,
      );
  }
  const identity = { account, issuer, id: newUid(), now: clock.now() };
  return tokenAnswer(request, await signingKey.sign(claimsOf(request, identity)), identity);
}

/** By this a service to which a pod shows its token finds the key. */
export const openIdDocument = (issuer: string): object => ({
  issuer,
  jwks_uri: `${issuer}/openid/v1/jwks`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
});
