/**
 * What must be sent so that the API server has our status of a pod, as a strategic merge patch. It contains only what the
 * kubelet owns: conditions and fields of other clients stay as they are.
 */
import { isOwnCondition } from '../../api/pod-conditions.ts';
import type { PodCondition, PodStatus } from '../../api/pod-status.ts';
import { sameJson } from '../../base/same-json.ts';

export type StatusPatch = Readonly<Record<string, unknown>>;

/** Values and lists that are replaced as a whole, and structures that are merged field by field. */
const PLAIN_FIELDS = [
  'observedGeneration',
  'phase',
  'reason',
  'message',
  'hostIP',
  'podIP',
  'startTime',
  'initContainerStatuses',
  'containerStatuses',
  'ephemeralContainerStatuses',
  'qosClass',
  'allocatedResources',
  'resources',
] as const satisfies readonly (keyof PodStatus)[];

/** Lists that would be merged by address. */
const ADDRESS_LISTS = ['hostIPs', 'podIPs'] as const satisfies readonly (keyof PodStatus)[];

/** Undefined: nothing differs. */
export function planStatusPatch(known: PodStatus | undefined, wanted: PodStatus): StatusPatch | undefined {
  const patch: Record<string, unknown> = {};
  for (const name of PLAIN_FIELDS) {
    const change = changeOf(known?.[name], wanted[name]);
    if (change !== undefined) patch[name] = change;
  }
  for (const name of ADDRESS_LISTS) {
    if (sameAddresses(known?.[name], wanted[name])) continue;
    patch[name] = [...(wanted[name] ?? []), { $patch: 'replace' }];
  }
  Object.assign(patch, conditionChanges(known?.conditions ?? [], wanted.conditions ?? []));
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Whether two statuses agree on everything that the kubelet owns. */
export function sameOwnStatus(left: PodStatus | undefined, right: PodStatus): boolean {
  return planStatusPatch(left, right) === undefined;
}

function sameAddresses(known: PodStatus['podIPs'], wanted: PodStatus['podIPs']): boolean {
  return sameJson(known ?? [], wanted ?? []);
}

/** Undefined: no change. Null removes a field. */
function changeOf(known: unknown, wanted: unknown): unknown {
  if (sameJson(known, wanted)) return undefined;
  if (wanted === undefined || wanted === null) return null;
  if (!isStructure(known) || !isStructure(wanted)) return wanted;
  const names = new Set([...Object.keys(known), ...Object.keys(wanted)]);
  const changes = [...names].map((name) => [name, changeOf(known[name], wanted[name])] as const);
  return Object.fromEntries(changes.filter(([, change]) => change !== undefined));
}

function isStructure(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function conditionChanges(known: readonly PodCondition[], wanted: readonly PodCondition[]): StatusPatch {
  const published = wanted.filter((condition) => isOwnCondition(condition) || isNewDisruption(condition, known));
  const changes = published.flatMap((condition) => conditionChange(known, condition));
  const dropped = known.filter(
    (condition) => isOwnCondition(condition) && !published.some(({ type }) => type === condition.type),
  );
  const removals = dropped.map(({ type }) => ({ $patch: 'delete', type }));
  const conditions = [...changes, ...removals];
  if (conditions.length === 0) return {};
  const order = published.map(({ type }) => ({ type }));
  return { ...(order.length === 0 ? {} : { '$setElementOrder/conditions': order }), conditions };
}

/** A disruption by the kubelet is published once; one that another client set is left alone. */
function isNewDisruption({ type, status }: PodCondition, known: readonly PodCondition[]): boolean {
  if (type !== 'DisruptionTarget') return false;
  return !known.some((condition) => condition.type === type && condition.status === status);
}

function conditionChange(known: readonly PodCondition[], wanted: PodCondition): readonly object[] {
  const before = known.find(({ type }) => type === wanted.type);
  const change = changeOf(before ?? {}, wanted);
  return isStructure(change) ? [{ ...change, type: wanted.type }] : [];
}
