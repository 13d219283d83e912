/** Converts a node of the parsed file to a value of the kind in the table. */
import { parseDuration } from '../../api/duration.ts';
import { formatQuantity, parseQuantity } from '../../api/quantity.ts';
import type { Entry, Tree } from '../../base/yaml-tree.ts';
import { suggestion } from '../rules/nearest.ts';
import { completeStruct, zeroOf } from '../schema/defaults.ts';
import type { DurationKind, IntKind, Kind, ListKind, MapKind, PartialValue, StructKind } from '../schema/kinds.ts';
import type { FileReport } from './report.ts';

/**
 * - fill: `null` means "as if not written" (in a list or map: the zero of its kind)
 * - patch: `null` removes what an earlier file set, and is kept for the merge
 */
export type NullRule = 'fill' | 'patch';

export interface Decoding {
  readonly report: FileReport;
  readonly nulls: NullRule;
  /** Makes a path of the file absolute, if paths count from the directory of the file. */
  resolvePath(path: string): string;
}

/** A struct or map as written; `null` only if nulls are patches. */
export type Decoded = { readonly [key: string]: unknown };

/** The value; undefined if it is absent or was refused. */
export function decodeValue(type: Kind, tree: Tree, path: string, decoding: Decoding): unknown {
  const { report } = decoding;
  report.noteOrigin(tree.place, path);
  switch (type.kind) {
    case 'bool':
      return tree.kind === 'bool' ? tree.value : mismatch(tree, path, report, 'must be true or false, without quotes');
    case 'int':
      return decodeInt(type, tree, path, report);
    case 'float':
      return decodeFloat(tree, path, report);
    case 'string':
      if (tree.kind !== 'string') return mismatch(tree, path, report, 'must be a string, in quotes if need be');
      return type.isPath ? decoding.resolvePath(tree.value) : tree.value;
    case 'duration':
      return decodeDuration(type, tree, path, report);
    case 'quantity':
      return decodeQuantity(tree, path, report);
    case 'list':
      return decodeList(type, tree, path, decoding);
    case 'map':
      return decodeMap(type, tree, path, decoding);
    case 'struct':
      if (tree.kind !== 'map') return mismatch(tree, path, report, 'must be a map of fields');
      return decodeStruct(type, dropRepeated(tree.entries, path, report), path, decoding);
  }
}

function decodeInt(type: IntKind, tree: Tree, path: string, report: FileReport): number | undefined {
  const rule = `must be an integer from ${type.min} to ${type.max}`;
  // 1e2 and 100.0 are integers in the reference: they become 100 in JSON.
  const isWhole = tree.kind === 'int' || (tree.kind === 'float' && Number.isInteger(tree.value));
  const value = isWhole ? Number(tree.value) : Number.NaN;
  return value >= type.min && value <= type.max ? value : mismatch(tree, path, report, rule);
}

function decodeFloat(tree: Tree, path: string, report: FileReport): number | undefined {
  const value = tree.kind === 'int' || tree.kind === 'float' ? Number(tree.value) : Number.NaN;
  return Number.isFinite(value) ? value : mismatch(tree, path, report, 'must be a number');
}

function decodeDuration(type: DurationKind, tree: Tree, path: string, report: FileReport): number | undefined {
  if (type.alsoNanoseconds && tree.kind === 'int') return Number(tree.value) / 1e6;
  if (tree.kind !== 'string') return mismatch(tree, path, report, 'must be a duration with a unit, such as 1m30s');
  const duration = parseDuration(tree.value);
  return duration.ok ? duration.value : report.refuse(tree.place, path, duration.problem);
}

function decodeQuantity(tree: Tree, path: string, report: FileReport): string | undefined {
  if (tree.kind !== 'string' && tree.kind !== 'int' && tree.kind !== 'float') {
    return mismatch(tree, path, report, 'must be a quantity, such as 10Mi');
  }
  const quantity = parseQuantity(String(tree.value).trim());
  return quantity.ok ? formatQuantity(quantity.value) : report.refuse(tree.place, path, quantity.problem);
}

function decodeList(type: ListKind, tree: Tree, path: string, decoding: Decoding): unknown {
  if (tree.kind !== 'list') return mismatch(tree, path, decoding.report, 'must be a list');
  // A list is replaced as a whole, so there is nothing to remove inside.
  const inside: Decoding = { ...decoding, nulls: 'fill' };
  const items = tree.items.map((item, index) => decodeItem(type.item, item, `${path}[${index}]`, inside));
  // If one item is refused, the list is refused: otherwise later messages would have wrong indexes.
  return items.includes(undefined) ? undefined : items;
}

function decodeMap(type: MapKind, tree: Tree, path: string, decoding: Decoding): unknown {
  if (tree.kind !== 'map') return mismatch(tree, path, decoding.report, 'must be a map');
  const decoded = dropRepeated(tree.entries, path, decoding.report).map(({ key, value }) => {
    if (value.kind === 'null' && decoding.nulls === 'patch') return [key, null] as const;
    return [key, decodeItem(type.item, value, `${path}.${key}`, decoding)] as const;
  });
  return Object.fromEntries(decoded.filter(([, value]) => value !== undefined));
}

/** Unlike fields, items have no default: a missing field of an item is zero. */
function decodeItem(type: Kind, tree: Tree, path: string, decoding: Decoding): unknown {
  if (tree.kind === 'null') return zeroOf(type);
  const value = decodeValue(type, tree, path, decoding);
  if (type.kind !== 'struct' || value === undefined) return value;
  return completeStruct(type, value as PartialValue<StructKind>);
}

export function decodeStruct(type: StructKind, entries: readonly Entry[], path: string, decoding: Decoding): Decoded {
  const decoded: [string, unknown][] = [];
  for (const { key, place, value } of entries) {
    const fieldPath = path === '' ? key : `${path}.${key}`;
    const field = Object.hasOwn(type.fields, key) ? type.fields[key] : undefined;
    if (field === undefined) {
      const hint = suggestion(key, Object.keys(type.fields));
      decoding.report.doubt(place, fieldPath, `unknown field${hint}`);
    } else if (value.kind !== 'null') {
      decoded.push([key, decodeValue(field.type, value, fieldPath, decoding)]);
    } else if (decoding.nulls === 'patch') {
      decoding.report.noteRemoval(value.place, fieldPath);
      decoded.push([key, null]);
    }
  }
  return Object.fromEntries(decoded.filter(([, value]) => value !== undefined));
}

/** The last of several entries with the same key counts, as in the reference. */
export function dropRepeated(entries: readonly Entry[], path: string, report: FileReport): readonly Entry[] {
  const last = new Map<string, Entry>();
  for (const entry of entries) {
    const earlier = last.get(entry.key);
    const entryPath = path === '' ? entry.key : `${path}.${entry.key}`;
    if (earlier !== undefined) {
      report.doubt(entry.place, entryPath, `written twice, first on line ${earlier.place.line}; the last one counts`);
    }
    last.set(entry.key, entry);
  }
  return [...last.values()];
}

function mismatch(tree: Tree, path: string, report: FileReport, rule: string): undefined {
  // Headers often contain a password, and these messages are logged.
  const found = path.startsWith('staticPodURLHeader') ? 'something else' : describe(tree);
  return report.refuse(tree.place, path, `${rule}; found ${found}`);
}

/** Short enough for one line of a log. */
export function describe(tree: Tree): string {
  switch (tree.kind) {
    case 'null':
      return 'nothing';
    case 'list':
      return 'a list';
    case 'map':
      return 'a map';
    case 'string':
      return `the string ${JSON.stringify(tree.value.length > 60 ? `${tree.value.slice(0, 60)}…` : tree.value)}`;
    default:
      return String(tree.value);
  }
}
