/**
 * Server-side apply: each manager owns the fields that its last configuration had. A field that it leaves out goes, unless another manager applies it too; a field
 * that another manager applies with another value is a conflict. Changes made without apply have no owner here.
 */
import { sameJson } from '../../base/same-json.ts';
import { isMap, mapOf } from './objects.ts';
import { Refusal } from './refusal.ts';
import { applyStrategicPatch, MERGE_KEYS, MERGED_SETS } from './strategic-patch.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ApplyRequest {
  readonly manager: string;
  readonly force: boolean;
  /** RFC 3339. */
  readonly now: string;
  readonly apiVersion: string;
}

interface Owned {
  readonly manager: string;
  readonly fields: Fields;
}

/** Fields that name the object: no one owns them. */
const IDENTITY = ['apiVersion', 'kind'];
const IDENTITY_META = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'managedFields',
];

export function applyConfiguration(current: Fields, config: Fields, request: ApplyRequest): Fields {
  const { manager, force } = request;
  const wanted = withoutIdentity(config);
  const owned = readOwned(current);
  const fields = fieldSet(wanted);
  const others = owned.filter((one) => one.manager !== manager);
  const clashes = force ? [] : others.flatMap((other) => clashesWith(other, fields, { current, wanted }));
  if (clashes.length > 0) throw conflictOf(clashes);
  const own = owned.find((one) => one.manager === manager)?.fields ?? {};
  const left = withoutFields(current, own, [fields, ...others.map((one) => one.fields)]);
  const merged = mapOf(applyStrategicPatch(left, wanted));
  const entries = [...others, { manager, fields }].map((one) => entryOf(one, request));
  return { ...merged, metadata: { ...mapOf(merged['metadata']), managedFields: entries } };
}

function withoutIdentity(config: Fields): Fields {
  const meta = Object.entries(mapOf(config['metadata'])).filter(([name]) => !IDENTITY_META.includes(name));
  const rest = Object.entries(config).filter(
    ([name]) => !IDENTITY.includes(name) && name !== 'metadata' && name !== 'status',
  );
  return Object.fromEntries([...rest, ...(meta.length > 0 ? [['metadata', Object.fromEntries(meta)]] : [])]);
}

function readOwned({ metadata }: Fields): readonly Owned[] {
  const { managedFields } = mapOf(metadata);
  return (Array.isArray(managedFields) ? managedFields : [])
    .filter(isMap)
    .flatMap((entry) =>
      entry['operation'] === 'Apply' ? [{ manager: String(entry['manager']), fields: mapOf(entry['fieldsV1']) }] : [],
    );
}

const entryOf = ({ manager, fields }: Owned, { now, apiVersion }: ApplyRequest) => ({
  manager,
  operation: 'Apply',
  apiVersion,
  time: now,
  fieldsType: 'FieldsV1',
  fieldsV1: fields,
});

/** `f:spec` → `f:containers` → `k:{"name":"main"}` → `f:image`, in the form of managedFields. */
function fieldSet(value: Fields): Fields {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [`f:${name}`, setOf(name, item)]));
}

function setOf(name: string, value: unknown): Fields {
  if (isMap(value)) return fieldSet(value);
  const key = keyOf(name);
  if (Array.isArray(value) && key !== undefined) {
    return Object.fromEntries(value.filter(isMap).map((item) => [itemName(item, key), { '.': {}, ...fieldSet(item) }]));
  }
  return {};
}

const keyOf = (name: string): string | undefined =>
  Object.hasOwn(MERGE_KEYS, name) && !MERGED_SETS.has(name) ? MERGE_KEYS[name] : undefined;
const itemName = (item: Fields, key: string): string => `k:${JSON.stringify({ [key]: item[key] })}`;

interface Values {
  readonly current: unknown;
  readonly wanted: unknown;
}

/** Paths of leaves that both own and that would change. */
function clashesWith(
  { manager, fields }: Owned,
  wanted: Fields,
  values: Values,
): readonly { manager: string; path: string }[] {
  return clashingPaths(fields, wanted, values, '').map((path) => ({ manager, path }));
}

function clashingPaths(theirs: Fields, ours: Fields, values: Values, path: string): readonly string[] {
  return Object.keys(ours).flatMap((step) => {
    if (step === '.' || !Object.hasOwn(theirs, step)) return [];
    const next = { current: childOf(values.current, step), wanted: childOf(values.wanted, step) };
    const [their, our] = [mapOf(theirs[step]), mapOf(ours[step])];
    const isLeaf = Object.keys(our).length === 0 || Object.keys(their).length === 0;
    const at = step.startsWith('f:')
      ? `${path}.${step.slice(2)}`
      : `${path}[${step.slice(2).replace(/^\{"(.*)":(.*)\}$/, '$1=$2')}]`;
    if (!isLeaf) return clashingPaths(their, our, next, at);
    return sameJson(next.current ?? null, next.wanted ?? null) ? [] : [at];
  });
}

function childOf(value: unknown, step: string): unknown {
  if (step.startsWith('f:')) return mapOf(value)[step.slice(2)];
  return Array.isArray(value) ? value.find((item) => isItem(item, step)) : undefined;
}

function isItem(item: unknown, step: string): boolean {
  const [key = '', value] = Object.entries(JSON.parse(step.slice(2)) as Fields)[0] ?? [];
  return isMap(item) && sameJson(item[key] ?? null, value ?? null);
}

/** Without the fields of `own` that are in none of the sets that stay. */
function withoutFields(value: Fields, own: Fields, stay: readonly Fields[]): Fields {
  const result: Record<string, unknown> = { ...value };
  for (const [step, below] of Object.entries(own)) {
    if (!step.startsWith('f:')) continue;
    const name = step.slice(2);
    const staying = stay.flatMap((set) => (Object.hasOwn(set, step) ? [mapOf(set[step])] : []));
    const next = withoutChild(result[name], mapOf(below), staying);
    if (next === undefined) delete result[name];
    else result[name] = next;
  }
  return result;
}

function withoutChild(value: unknown, own: Fields, stay: readonly Fields[]): unknown {
  if (Object.keys(own).length === 0) return stay.length > 0 ? value : undefined;
  if (isMap(value)) {
    const left = withoutFields(value, own, stay);
    return stay.length === 0 && Object.keys(left).length === 0 ? undefined : left;
  }
  if (!Array.isArray(value)) return value;
  const left = value.flatMap((item) => {
    const step = Object.keys(own).find((one) => one.startsWith('k:') && isItem(item, one));
    if (step === undefined || !isMap(item)) return [item];
    const staying = stay.flatMap((set) => (Object.hasOwn(set, step) ? [mapOf(set[step])] : []));
    return staying.length === 0 ? [] : [withoutFields(item, mapOf(own[step]), staying)];
  });
  return left.length === 0 && stay.length === 0 ? undefined : left;
}

function conflictOf(clashes: readonly { readonly manager: string; readonly path: string }[]): Refusal {
  const causes = clashes.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${JSON.stringify(manager)}`,
    field: path,
  }));
  const [first] = clashes;
  const text =
    clashes.length === 1
      ? `Apply failed with 1 conflict: conflict with ${JSON.stringify(first?.manager)}: ${first?.path}`
      : `Apply failed with ${clashes.length} conflicts: ${clashes.map(({ manager, path }) => `conflict with ${JSON.stringify(manager)}: ${path}`).join(', ')}`;
  return new Refusal(409, 'Conflict', text, { causes });
}
