/** The object that stands in the API server for a static pod. */
import type { Pod, PodSpec } from '../../api/pod.ts';
import { CONFIG_HASH, CONFIG_MIRROR, CONFIG_SEEN, CONFIG_SOURCE } from '../../api/pod-traits.ts';
import { sameJson } from '../../base/same-json.ts';

export interface MirrorOwner {
  readonly name: string;
  readonly uid: string;
}

/** What is posted. The API server gives it a UID of its own. */
export function mirrorOf(pod: Pod, node: MirrorOwner): object {
  const { name, namespace, labels, annotations, finalizers } = pod.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      ...(labels === undefined ? {} : { labels }),
      ...(finalizers === undefined ? {} : { finalizers }),
      annotations: { ...annotations, [CONFIG_MIRROR]: hashOf(pod) },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true }],
    },
    spec: pod.spec,
  };
}

/** Whether a mirror stands for this very pod on this very node. */
export function mirrors(mirror: Pod, pod: Pod, node: MirrorOwner): boolean {
  const { annotations, ownerReferences = [], deletionTimestamp } = mirror.metadata;
  const [owner] = ownerReferences;
  const ours = owner?.kind === 'Node' && owner.name === node.name && owner.uid === node.uid;
  return deletionTimestamp === undefined && ours && annotations?.[CONFIG_MIRROR] === hashOf(pod);
}

function hashOf(pod: Pod): string {
  return pod.metadata.annotations?.[CONFIG_HASH] ?? pod.metadata.uid;
}

/** What the kubelet itself writes onto its static pods. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([CONFIG_HASH, CONFIG_MIRROR, CONFIG_SEEN, CONFIG_SOURCE]);

/** What admission fills in where a pod says nothing. */
const FILLED_IN = ['priority', 'preemptionPolicy'] as const satisfies readonly (keyof PodSpec)[];

/** Whether a mirror was made from a manifest that says the same as that of this pod. */
export function isSameManifest(mirror: Pod, pod: Pod): boolean {
  return (
    sameJson(comparable(mirror.spec, pod.spec), pod.spec) &&
    sameJson(mirror.metadata.labels ?? {}, pod.metadata.labels ?? {}) &&
    sameJson(foreignAnnotations(mirror), foreignAnnotations(pod))
  );
}

function comparable(spec: PodSpec, wanted: PodSpec): PodSpec {
  const left = FILLED_IN.filter((field) => wanted[field] === undefined);
  return Object.fromEntries(
    Object.entries(spec).filter(([name]) => !left.some((one) => one === name)),
  ) as unknown as PodSpec;
}

function foreignAnnotations({ metadata }: Pod): object {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => !OWN_ANNOTATIONS.has(name)));
}
