/** May a pod use an image that is on the machine already, or must it prove that it has access to it in the registry? */
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import { withoutTagAndDigest } from './image-name.ts';
import type { Credential } from './keyring.ts';
import { isSameObject, type PullCredentials, type PulledRecord, type SecretUsed } from './pull-record.ts';

export type VerificationPolicy =
  | 'NeverVerify'
  | 'NeverVerifyPreloadedImages'
  | 'NeverVerifyAllowlistedImages'
  | 'AlwaysVerify';

export interface Verification {
  readonly policy: VerificationPolicy;
  /** Names of images without tag and digest, or `registry/path/*`; for `NeverVerifyAllowlistedImages`. */
  readonly allowlist: readonly string[];
}

const POLICIES: ReadonlySet<string> = new Set<VerificationPolicy>([
  'NeverVerify',
  'NeverVerifyPreloadedImages',
  'NeverVerifyAllowlistedImages',
  'AlwaysVerify',
]);

/** An empty policy is the default one. */
export function parsePolicy(text: string): Parsed<VerificationPolicy> {
  if (text === '') return parsed('NeverVerifyPreloadedImages');
  return POLICIES.has(text)
    ? parsed(text as VerificationPolicy)
    : unparsable(`${JSON.stringify(text)} is not a policy: use one of ${[...POLICIES].join(', ')}`);
}

/** `pulledHere`: this kubelet pulled it, or began to; an image that came otherwise counts as preloaded. */
export function needsVerification({ policy, allowlist }: Verification, image: string, pulledHere: boolean): boolean {
  switch (policy) {
    case 'NeverVerify':
      return false;
    case 'NeverVerifyPreloadedImages':
      return pulledHere;
    case 'NeverVerifyAllowlistedImages':
      return !isListed(allowlist, image);
    case 'AlwaysVerify':
      return true;
  }
}

function isListed(allowlist: readonly string[], image: string): boolean {
  const bare = withoutTagAndDigest(image);
  const name = bare.ok ? bare.value : image;
  return allowlist.some((entry) => (entry.endsWith('/*') ? name.startsWith(entry.slice(0, -1)) : name === entry));
}

export type Access =
  /** Every pod may use it. */
  | { readonly kind: 'granted' }
  /** The registry must be checked. */
  | { readonly kind: 'refused' }
  /** It depends on the credentials of the pod. */
  | { readonly kind: 'check-registry'; readonly known: PullCredentials };

/** What the record of an image says about pods that name it `image`. */
export function judgeRecord(record: PulledRecord | undefined, image: string): Access {
  const name = withoutTagAndDigest(image);
  const known = record === undefined || !name.ok ? undefined : record.credentials.get(name.value);
  if (known === undefined) return { kind: 'refused' };
  if (known.everyPod) return { kind: 'granted' };
  return known.secrets.length + known.serviceAccounts.length === 0
    ? { kind: 'refused' }
    : { kind: 'check-registry', known };
}

/** A credential of the pod with the hash of its login. */
export type HashedCredential = Credential & { readonly hash: string };

export interface Grant {
  readonly granted: boolean;
  /** A secret to add to the record, so that it counts by itself the next time. */
  readonly learned: SecretUsed | undefined;
}

/** A record of this size does not grow any more. */
const LONGEST_LIST = 100;

/** The same login under another name counts, and so does the same secret with another login in it. */
export function judgeCredentials(known: PullCredentials, shown: readonly HashedCredential[]): Grant {
  const mayLearn = known.secrets.length < LONGEST_LIST;
  for (const { source, hash: credentialHash } of shown) {
    if (source.kind !== 'secret') continue;
    const { uid, namespace, name } = source;
    const secret: SecretUsed = { uid, namespace, name, credentialHash };
    for (const other of known.secrets) {
      const sameLogin = other.credentialHash !== '' && other.credentialHash === credentialHash;
      const sameSecret = isSameObject(secret, other);
      if (sameLogin) return { granted: true, learned: sameSecret || !mayLearn ? undefined : secret };
      if (sameSecret && mayLearn) return { granted: true, learned: secret };
    }
  }
  // Audiences don't count, so a pod has exactly one service account.
  const account = shown.map(({ source }) => source).find((source) => source.kind === 'serviceAccount');
  const granted = account !== undefined && known.serviceAccounts.some((other) => isSameObject(account, other));
  return { granted, learned: undefined };
}

/** What to remember of a pull with this credential; with none, the image is public. */
export function credentialsUsed(credential: HashedCredential | undefined): PullCredentials {
  const { source, hash = '' } = credential ?? {};
  const nothing: PullCredentials = { secrets: [], serviceAccounts: [], everyPod: false };
  if (source === undefined || source.kind === 'node') return { ...nothing, everyPod: true };
  const { uid, namespace, name } = source;
  return source.kind === 'secret'
    ? { ...nothing, secrets: [{ uid, namespace, name, credentialHash: hash }] }
    : { ...nothing, serviceAccounts: [{ uid, namespace, name }] };
}
