/** Under which UID a static pod runs here. */
import type { Pod } from '../../api/pod.ts';
import { CONFIG_HASH } from '../../api/pod-traits.ts';
import { isSameManifest } from './mirror-pod.ts';

export interface AdoptionInput {
  readonly pod: Pod;
  /** UIDs of pods of its name that run on the node. */
  readonly running: readonly string[];
  /** Undefined before the API server has listed them. */
  readonly mirrors: readonly Pod[] | undefined;
  /** The UID that was adopted before for the same manifest. */
  readonly adopted: string | undefined;
}

export type AdoptionVerdict =
  | { readonly kind: 'keep' }
  | { readonly kind: 'adopt'; readonly uid: string }
  /** A pod of its name runs under another UID, and only its mirror pod can show whether it is the same. */
  | { readonly kind: 'unknown' };

export function judgeAdoption({ pod, running, mirrors, adopted }: AdoptionInput): AdoptionVerdict {
  const { uid, name, namespace } = pod.metadata;
  if (adopted !== undefined) return { kind: 'adopt', uid: adopted };
  if (running.length === 0 || running.includes(uid)) return { kind: 'keep' };
  if (mirrors === undefined) return { kind: 'unknown' };
  const mirror = mirrors.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  const known = mirror?.metadata.annotations?.[CONFIG_HASH];
  if (mirror === undefined || known === undefined || !running.includes(known)) return { kind: 'keep' };
  return isSameManifest(mirror, pod) ? { kind: 'adopt', uid: known } : { kind: 'keep' };
}

export function underUid(pod: Pod, uid: string): Pod {
  const annotations = { ...pod.metadata.annotations, [CONFIG_HASH]: uid };
  return { ...pod, metadata: { ...pod.metadata, uid, annotations } };
}
