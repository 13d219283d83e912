/**
 * The identity of a pod from a file or a URL. No API server gave it a UID, so that is made from its content: the same text is the same pod
 * after a restart of the kubelet, and a changed text is another pod, which takes the place of the first.
 *
 * What is hashed is the pod as it was written (formatting, comments and unknown fields aside), without the defaults: a kubelet
 * that gets a new default must not restart every static pod of the node. Nor does the name of the file count: renaming
 * a manifest, or copying it, restarts nothing.
 */
import type { Pod, Toleration } from '../../api/pod.ts';
import { CONFIG_HASH } from '../../api/pod-traits.ts';

export interface StaticOrigin {
  /** As in the annotation `kubernetes.io/config.source`. */
  readonly source: 'file' | 'http';
  readonly nodeName: string;
  /** At least 32 hexadecimal digits for a text. */
  hash(text: string): string;
}

const UID_DIGITS = 32;

/** Priorities of the classes that every cluster has; no other class can be looked up here. */
const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** Static pods stay whatever taints the node gets. */
const STAY: Toleration = { operator: 'Exists', effect: 'NoExecute' };

export function giveStaticIdentity(pod: Pod, origin: StaticOrigin): Pod {
  const { metadata, spec } = pod;
  const uid = metadata.uid || contentUid(pod, origin);
  const priority = spec.priority ?? SYSTEM_PRIORITIES[spec.priorityClassName ?? ''];
  return {
    ...pod,
    metadata: {
      ...metadata,
      uid,
      name: `${metadata.name}-${origin.nodeName.toLowerCase()}`,
      namespace: metadata.namespace || 'default',
      annotations: { ...metadata.annotations, [CONFIG_HASH]: uid },
    },
    spec: {
      ...spec,
      nodeName: origin.nodeName,
      ...(priority === undefined ? {} : { priority }),
      ...(origin.source === 'file' ? { tolerations: withStay(spec.tolerations ?? []) } : {}),
    },
    status: { phase: 'Pending' },
  };
}

function contentUid(pod: Pod, origin: StaticOrigin): string {
  const { metadata, spec } = pod;
  const content = { host: origin.nodeName, source: origin.source, metadata, spec };
  return origin.hash(canonicalJson(content)).slice(0, UID_DIGITS);
}

/** The same text for the same value, in whatever order its fields were written. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}

/** One that differs only in its time limit is replaced: static pods have no time limit. */
function withStay(tolerations: readonly Toleration[]): readonly Toleration[] {
  const isStay = ({ key, operator, value, effect }: Toleration) =>
    !key && !value && operator === STAY.operator && effect === STAY.effect;
  if (!tolerations.some(isStay)) return [...tolerations, STAY];
  return tolerations.map((toleration) => (isStay(toleration) ? STAY : toleration));
}
