/** Strategic merge patches: merge patches in which the items of some lists are merged by a key, with directives beside the fields. */
import { sameJson } from '../../base/same-json.ts';
import { isMap } from './objects.ts';
import { badRequest } from './refusal.ts';

/** By the name of the field: no two lists of the served kinds have the same name and different keys. */
export const MERGE_KEYS: Readonly<Record<string, string>> = {
  addresses: 'type',
  conditions: 'type',
  containers: 'name',
  env: 'name',
  ephemeralContainers: 'name',
  hostAliases: 'ip',
  hostIPs: 'ip',
  imagePullSecrets: 'name',
  initContainers: 'name',
  ownerReferences: 'uid',
  podIPs: 'ip',
  ports: 'containerPort',
  resourceClaimStatuses: 'name',
  resourceClaims: 'name',
  schedulingGates: 'name',
  secrets: 'name',
  taints: 'key',
  topologySpreadConstraints: 'topologyKey',
  volumeDevices: 'devicePath',
  volumeMounts: 'mountPath',
  volumes: 'name',
};
/** Lists of plain values that are merged as sets. */
export const MERGED_SETS: ReadonlySet<string> = new Set(['finalizers', 'podCIDRs']);

const PATCH = '$patch';
const RETAIN = '$retainKeys';
const ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';

export function applyStrategicPatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) throw badRequest('error decoding patch: a strategic merge patch must be an object');
  return mergeMaps(isMap(target) ? target : {}, patch);
}

type Fields = Readonly<Record<string, unknown>>;

function mergeMaps(target: Fields, patch: Fields): Fields {
  const directive = patch[PATCH];
  if (directive === 'replace') return fieldsOf(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge')
    throw badRequest(`Unknown patch directive ${JSON.stringify(directive)?.slice(0, 100)}`);
  const result: Record<string, unknown> = Object.assign(Object.create(null), retained(target, patch));
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(DELETE_FROM)) {
      const name = key.slice(DELETE_FROM.length);
      if (!Array.isArray(value)) throw badRequest(`${DELETE_FROM} must be a list`);
      result[name] = listOf(result[name]).filter((item) => !value.some((one) => sameJson(one, item)));
    }
    if (key.startsWith('$')) continue;
    if (value === null) delete result[key];
    else result[key] = mergeValue(key, result[key], value);
  }
  for (const [key, order] of Object.entries(patch)) {
    if (key.startsWith(ORDER)) inOrder(result, key.slice(ORDER.length), order);
  }
  return { ...result };
}

/** Without the directives, which belong to the patch. */
const fieldsOf = (patch: Fields): Fields =>
  Object.fromEntries(Object.entries(patch).filter(([key, value]) => !key.startsWith('$') && value !== null));

function retained(target: Fields, patch: Fields): Fields {
  const keys = patch[RETAIN];
  if (keys === undefined) return target;
  if (!Array.isArray(keys)) throw badRequest(`${RETAIN} must be a list`);
  const kept = new Set(keys);
  return Object.fromEntries(Object.entries(target).filter(([key]) => kept.has(key)));
}

function mergeValue(name: string, target: unknown, value: unknown): unknown {
  if (isMap(value)) return mergeMaps(isMap(target) ? target : {}, value);
  if (!Array.isArray(value)) return value;
  const key = Object.hasOwn(MERGE_KEYS, name) ? MERGE_KEYS[name] : undefined;
  if (key !== undefined) return mergeLists(listOf(target), value, key);
  if (!MERGED_SETS.has(name)) return value;
  const before = listOf(target);
  return [...before, ...value.filter((item) => !before.includes(item))];
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function mergeLists(target: readonly unknown[], patch: readonly unknown[], key: string): readonly unknown[] {
  if (patch.some((item) => isMap(item) && item[PATCH] === 'replace' && !Object.hasOwn(item, key))) {
    return patch.filter((item) => !isMap(item) || item[PATCH] === undefined);
  }
  const items = new Map<unknown, unknown>(target.map((item) => [keyOf(item, key), item]));
  for (const item of patch) {
    if (!isMap(item)) throw badRequest('a list that is merged by a key must have objects as items');
    const id = keyOf(item, key);
    if (id === undefined)
      throw badRequest(`map: ${JSON.stringify(item).slice(0, 200)} does not contain declared merge key: ${key}`);
    if (item[PATCH] === 'delete') items.delete(id);
    else items.set(id, mergeMaps(before(items.get(id)), item));
  }
  return [...items.values()];
}

const before = (item: unknown): Fields => (isMap(item) ? item : {});
const keyOf = (item: unknown, key: string): unknown =>
  isMap(item) && Object.hasOwn(item, key) ? item[key] : undefined;

/** Items that the order does not name keep their places behind those that it does. */
function inOrder(result: Record<string, unknown>, name: string, order: unknown): void {
  const items = result[name];
  if (!Array.isArray(items) || !Array.isArray(order)) return;
  const key = Object.hasOwn(MERGE_KEYS, name) ? MERGE_KEYS[name] : undefined;
  const idOf = (item: unknown): unknown => (key === undefined ? item : keyOf(item, key));
  const places = new Map(order.map((item, index) => [idOf(item), index]));
  const placeOf = (item: unknown): number => places.get(idOf(item)) ?? order.length;
  result[name] = items.toSorted((one, other) => placeOf(one) - placeOf(other));
}
