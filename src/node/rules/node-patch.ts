/** The difference between two states of a node, as a strategic merge patch. */
import type { KubeNode, NodeAddress, NodeCondition, NodeStatus } from '../../api/node.ts';
import { sameJson } from '../../base/same-json.ts';

export type Patch = { readonly [field: string]: unknown };

/** Undefined: there is no difference. Fields that others own in the status (`volumesAttached`, `config`) are not touched. */
export function computeNodePatch(before: KubeNode, after: KubeNode): Patch | undefined {
  const metadata = omitEmpty({
    labels: diffMaps(before.metadata.labels ?? {}, after.metadata.labels ?? {}),
    annotations: diffMaps(before.metadata.annotations ?? {}, after.metadata.annotations ?? {}),
  });
  const status = diffStatus(before.status ?? {}, after.status ?? {});
  return omitEmpty({ metadata, status });
}

/** Whether anything but the heartbeat times of conditions differs. */
export function nodeHasChanged(before: KubeNode, after: KubeNode): boolean {
  return computeNodePatch(withoutHeartbeats(before), withoutHeartbeats(after)) !== undefined;
}

function withoutHeartbeats(node: KubeNode): KubeNode {
  const conditions = (node.status?.conditions ?? []).map(({ lastHeartbeatTime: _, ...rest }) => rest);
  return { ...node, status: { ...node.status, conditions } };
}

function diffStatus(before: NodeStatus, after: NodeStatus): Patch | undefined {
  const { conditions, addresses, ...rest } = after;
  const { conditions: oldConditions = [], addresses: oldAddresses = [], ...oldRest } = before;
  return omitEmpty({
    ...diffMaps(oldRest, rest),
    ...diffConditions(oldConditions, conditions ?? []),
    addresses: diffAddresses(oldAddresses, addresses ?? []),
  });
}

/** Conditions are merged by their type, so those of others stay. */
function diffConditions(before: readonly NodeCondition[], after: readonly NodeCondition[]): Patch {
  const changed = after.flatMap((condition) => {
    const old = before.find(({ type }) => type === condition.type);
    if (old === undefined) return [condition];
    const fields = diffMaps(old, condition);
    return fields === undefined ? [] : [{ ...fields, type: condition.type }];
  });
  if (changed.length === 0) return {};
  return { '$setElementOrder/conditions': after.map(({ type }) => ({ type })), conditions: changed };
}

/** A merge by type would join two addresses of one type: the list is replaced as a whole. */
function diffAddresses(before: readonly NodeAddress[], after: readonly NodeAddress[]): readonly unknown[] | undefined {
  if (sameJson(before, after)) return undefined;
  return before.length === 0 ? after : [...after, { $patch: 'replace' }];
}

/** Lists are replaced, maps are merged, and null removes a field. */
function diffMaps(before: object, after: object): Patch | undefined {
  const old: Readonly<Record<string, unknown>> = { ...before };
  const desired: Readonly<Record<string, unknown>> = { ...after };
  const changes: [string, unknown][] = [];
  for (const [key, value] of Object.entries(desired)) {
    if (value === undefined || sameJson(old[key], value)) continue;
    changes.push([key, isMap(value) && isMap(old[key]) ? diffMaps(old[key], value) : value]);
  }
  for (const key of Object.keys(old)) {
    if (old[key] !== undefined && desired[key] === undefined) changes.push([key, null]);
  }
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

function omitEmpty(patch: Patch): Patch | undefined {
  const entries = Object.entries(patch).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
