/** Pods as the API server has them: it has completed and validated them, so only their shape is checked. */
import { isPodUid } from '../../api/ids.ts';
import { readShape } from '../../api/object-shape.ts';
import { type Parsed, parsed, unparsable } from '../../api/parsed.ts';
import type { Pod } from '../../api/pod.ts';
import { isOwnCondition } from '../../api/pod-conditions.ts';
import { API_POD } from '../../api/pod-schema.ts';
import { hasEnded } from '../../api/pod-traits.ts';
import { sameJson } from '../../base/same-json.ts';

/** Fields that this kubelet does not know are kept and mean nothing to it; who manages which field is for the API server. */
export function readApiPod(object: unknown): Parsed<Pod> {
  const shape = readShape(API_POD, object);
  if (!shape.ok) return unparsable(`${nameOf(object)}: ${shape.problem}`);
  const { metadata, spec } = shape.value;
  const { managedFields: _, ...meta } = fieldsOf(metadata);
  const { name, namespace, uid } = meta;
  if (typeof name !== 'string' || typeof namespace !== 'string') return unparsable('a pod without name or namespace');
  if (typeof uid !== 'string' || !isPodUid(uid)) {
    return unparsable(
      `pod ${namespace}/${name} has the UID ${JSON.stringify(uid)}; it must be letters, digits and hyphens`,
    );
  }
  const { containers } = fieldsOf(spec);
  if (!Array.isArray(containers)) return unparsable(`pod ${namespace}/${name} has no list of containers`);
  return parsed({ ...shape.value, metadata: meta } as unknown as Pod);
}

/**
 * Whether nothing has changed between two versions of one pod but what this kubelet itself wrote: then there is nothing to do
 * about the newer one.
 */
export function isSameForUs(before: Pod, after: Pod): boolean {
  return (
    sameJson(before.spec, after.spec) &&
    sameJson(withoutVersion(before), withoutVersion(after)) &&
    hasEnded(before) === hasEnded(after) &&
    sameJson(foreignConditions(before), foreignConditions(after))
  );
}

function withoutVersion({ metadata: { resourceVersion: _, ...rest } }: Pod): object {
  return rest;
}

function foreignConditions({ status }: Pod): readonly object[] {
  return (status?.conditions ?? []).filter((condition) => !isOwnCondition(condition));
}

function nameOf(object: unknown): string {
  const { namespace, name } = fieldsOf(fieldsOf(object)['metadata']);
  return `pod ${JSON.stringify(namespace)}/${JSON.stringify(name)}`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
