/** For tests of this directory: the node and the lease that the simulated API server holds (see api-testing.ts). */
import type { KubeNode, NodeCondition } from '../api/node.ts';
import { CodedError } from '../base/errors.ts';
import type { Lease } from './rules/lease.ts';

export interface FakeObject<T> {
  get(): T | undefined;
  /** Fails with `notFound`. */
  require(): T;
  /** Stores it under a new version. */
  put(object: T): T;
  delete(): T | undefined;
}

type Versioned = { readonly metadata: { readonly resourceVersion?: string } };

export function createFakeObject<T extends Versioned>(what: string, nextVersion: () => string): FakeObject<T> {
  let held: T | undefined;
  return {
    get: () => held,
    require: () => {
      if (held === undefined) throw new CodedError('notFound', `${what} not found`);
      return held;
    },
    put: (object) => {
      held = { ...object, metadata: { ...object.metadata, resourceVersion: nextVersion() } };
      return held;
    },
    delete: () => {
      const deleted = held;
      held = undefined;
      return deleted;
    },
  };
}

/** What the API server does with a lease that was written against an older version. */
export function checkVersion(held: Lease, written: Lease): void {
  if (held.metadata.resourceVersion !== written.metadata.resourceVersion)
    throw new CodedError('conflict', 'the object has been modified');
}

type Fields = Readonly<Record<string, unknown>>;

/** What a strategic merge patch of a node means: maps are merged, null removes, conditions are merged by type. */
export function applyPatch(node: KubeNode, patch: Fields): KubeNode {
  return merge(node as unknown as Fields, patch) as unknown as KubeNode;
}

function merge(base: Fields, patch: Fields): Fields {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$')) continue;
    if (value === null) delete result[key];
    else if (key === 'conditions') result[key] = mergeConditions(base[key], value);
    else if (Array.isArray(value)) result[key] = value.filter((item) => !('$patch' in Object(item)));
    else if (typeof value === 'object') result[key] = merge((base[key] ?? {}) as Fields, value as Fields);
    else result[key] = value;
  }
  return result;
}

function mergeConditions(base: unknown, patch: unknown): readonly NodeCondition[] {
  const conditions = [...((base ?? []) as NodeCondition[])];
  for (const change of patch as NodeCondition[]) {
    const index = conditions.findIndex(({ type }) => type === change.type);
    if (index < 0) conditions.push(change);
    else conditions[index] = { ...(conditions[index] as NodeCondition), ...change };
  }
  return conditions;
}
