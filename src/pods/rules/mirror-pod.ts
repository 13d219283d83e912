/** The object that shows a static pod in the API server. */
import type { Pod, PodSpec } from '../../api/pod.ts';
import { CONFIG_HASH, CONFIG_MIRROR, CONFIG_SEEN, CONFIG_SOURCE } from '../../api/pod-traits.ts';
import { sameJson } from '../../base/same-json.ts';

export interface MirrorOwner {
  readonly name: string;
  readonly uid: string;
}

/** The object to create. The API server gives it a UID of its own. */
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

/** Whether it is the mirror of this pod on this node. */
export function mirrors(mirror: Pod, pod: Pod, node: MirrorOwner): boolean {
  const { annotations, ownerReferences = [], deletionTimestamp } = mirror.metadata;
  const [owner] = ownerReferences;
  const ours = owner?.kind === 'Node' && owner.name === node.name && owner.uid === node.uid;
  return deletionTimestamp === undefined && ours && annotations?.[CONFIG_MIRROR] === hashOf(pod);
}

function hashOf(pod: Pod): string {
  return pod.metadata.annotations?.[CONFIG_HASH] ?? pod.metadata.uid;
}

/** Annotations that the kubelet itself sets on static pods. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([CONFIG_HASH, CONFIG_MIRROR, CONFIG_SEEN, CONFIG_SOURCE]);

/** Fields that the API server's admission fills in where the manifest does not set them. */
const FILLED_IN = ['priority', 'preemptionPolicy'] as const satisfies readonly (keyof PodSpec)[];

/** Whether a mirror was created from the same manifest as this pod. */
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
