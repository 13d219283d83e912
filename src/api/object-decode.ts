/** From a YAML or JSON tree to an API object: known fields of the right kind, and every complaint with its place. */
import type { Entry, Place, Tree } from '../base/yaml-tree.ts';
import type { FieldKind, StructKind } from './object-schema.ts';
import { formatQuantity, parseQuantity } from './quantity.ts';
import { parseTimestamp } from './timestamp.ts';

export interface DecodeFinding {
  readonly place: Place;
  /** `spec.containers[0].image`; empty for the object itself. */
  readonly path: string;
  readonly text: string;
}

export interface DecodedObject {
  /** What could be read. Of use only where there are no problems. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly problems: readonly DecodeFinding[];
  /** Unknown fields and fields written twice: the reference reads past them without a word. */
  readonly warnings: readonly DecodeFinding[];
}

const INT32_MAX = 2 ** 31 - 1;
const INT64_MAX = Number(2n ** 63n - 1n);
const LONGEST_SHOWN = 60;

export function decodeObject(type: StructKind, tree: Tree): DecodedObject {
  const decoder = new Decoder();
  const value = decoder.struct(type, tree, '');
  return { value: value ?? {}, problems: decoder.problems, warnings: decoder.warnings };
}

/** The place of a path, or of the nearest thing around it that was written. */
export function placeOfPath(tree: Tree, path: string): Place {
  let found = tree;
  for (const step of stepsOf(path)) {
    const next = found.kind === 'list' ? found.items[Number(step)] : entryOf(found, step)?.value;
    if (next === undefined) break;
    found = next;
  }
  return found.place;
}

/** `a.b[0].c[d/e.f]` as `a`, `b`, `0`, `c`, `d/e.f`. */
function stepsOf(path: string): readonly string[] {
  return Array.from(path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g), (match) => match[1] ?? match[2] ?? '');
}

/** The last of several entries with the same key counts. */
export function entryOf(tree: Tree, key: string): Entry | undefined {
  return tree.kind === 'map' ? tree.entries.findLast((entry) => entry.key === key) : undefined;
}

/** What stands there, short enough for one line of a log. */
export function describeTree(tree: Tree): string {
  switch (tree.kind) {
    case 'null':
      return 'nothing';
    case 'list':
      return 'a list';
    case 'map':
      return 'a map';
    case 'string': {
      const { value } = tree;
      return `the string ${JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value)}`;
    }
    default:
      return String(tree.value);
  }
}

class Decoder {
  readonly problems: DecodeFinding[] = [];
  readonly warnings: DecodeFinding[] = [];

  struct(type: StructKind, tree: Tree, path: string): Record<string, unknown> | undefined {
    if (tree.kind !== 'map') return this.#mismatch(tree, path, 'must be a map of fields');
    const value: Record<string, unknown> = {};
    for (const entry of this.#once(tree.entries, path)) {
      const fieldPath = path === '' ? entry.key : `${path}.${entry.key}`;
      const field = Object.hasOwn(type.fields, entry.key) ? type.fields[entry.key] : undefined;
      if (field === undefined)
        this.warnings.push({ place: entry.place, path: fieldPath, text: 'unknown field, not used' });
      else if (entry.value.kind !== 'null') this.#set(value, entry.key, this.#value(field, entry.value, fieldPath));
    }
    return value;
  }

  #set(target: Record<string, unknown>, key: string, value: unknown): void {
    // A key such as __proto__ must become an own property like any other.
    if (value !== undefined) Object.defineProperty(target, key, { value, enumerable: true });
  }

  #value(type: FieldKind, tree: Tree, path: string): unknown {
    switch (type.kind) {
      case 'string':
        return tree.kind === 'string'
          ? tree.value
          : this.#mismatch(tree, path, 'must be a string, in quotes if need be');
      case 'bool':
        return tree.kind === 'bool' ? tree.value : this.#mismatch(tree, path, 'must be true or false, without quotes');
      case 'int32':
        return this.#integer(tree, path, INT32_MAX);
      case 'int64':
        return this.#integer(tree, path, INT64_MAX);
      case 'intOrString':
        return tree.kind === 'string' ? tree.value : this.#integer(tree, path, INT32_MAX);
      case 'quantity':
        return this.#quantity(tree, path);
      case 'time':
        return tree.kind === 'string' && parseTimestamp(tree.value) !== undefined
          ? tree.value
          : this.#mismatch(tree, path, 'must be a time, such as 2026-01-02T15:04:05Z');
      case 'anything':
        return plainValue(tree);
      case 'list':
        if (tree.kind !== 'list') return this.#mismatch(tree, path, 'must be a list');
        return tree.items.map((item, index) => this.#item(type.item, item, `${path}[${index}]`));
      case 'map':
        return this.#map(type.item, tree, path);
      case 'struct':
        return this.struct(type, tree, path);
    }
  }

  #map(type: FieldKind, tree: Tree, path: string): unknown {
    if (tree.kind !== 'map') return this.#mismatch(tree, path, 'must be a map');
    const value: Record<string, unknown> = {};
    for (const entry of this.#once(tree.entries, path)) {
      this.#set(value, entry.key, this.#item(type, entry.value, `${path}[${entry.key}]`));
    }
    return value;
  }

  /** Unlike a field, an item that is written as nothing is there: it is zero. */
  #item(type: FieldKind, tree: Tree, path: string): unknown {
    if (tree.kind !== 'null') return this.#value(type, tree, path);
    switch (type.kind) {
      case 'string':
        return '';
      case 'quantity':
        return '0';
      case 'struct':
        return {};
      default:
        return this.#mismatch(tree, path, 'must have a value');
    }
  }

  #integer(tree: Tree, path: string, max: number): number | undefined {
    // 1e2 and 100.0 are integers to the reference too: they become 100 on their way through JSON.
    const whole = tree.kind === 'int' || (tree.kind === 'float' && Number.isInteger(tree.value));
    const value = whole ? Number(tree.value) : Number.NaN;
    if (Math.abs(value) <= max) return value;
    return this.#mismatch(tree, path, `must be an integer of ${max === INT32_MAX ? 32 : 64} bits`);
  }

  #quantity(tree: Tree, path: string): string | undefined {
    if (tree.kind !== 'string' && tree.kind !== 'int' && tree.kind !== 'float') {
      return this.#mismatch(tree, path, 'must be a quantity, such as 10Mi');
    }
    const quantity = parseQuantity(String(tree.value));
    if (quantity.ok) return formatQuantity(quantity.value);
    this.problems.push({ place: tree.place, path, text: quantity.problem });
    return undefined;
  }

  #once(entries: readonly Entry[], path: string): readonly Entry[] {
    const last = new Map<string, Entry>();
    for (const entry of entries) {
      const earlier = last.get(entry.key);
      if (earlier !== undefined) {
        const text = `written twice, first on line ${earlier.place.line}; the last one counts`;
        this.warnings.push({ place: entry.place, path: path === '' ? entry.key : `${path}.${entry.key}`, text });
      }
      last.set(entry.key, entry);
    }
    return last.size === entries.length ? entries : [...last.values()];
  }

  #mismatch(tree: Tree, path: string, rule: string): undefined {
    this.problems.push({ place: tree.place, path, text: `${rule}; found ${describeTree(tree)}` });
  }
}

function plainValue(tree: Tree): unknown {
  switch (tree.kind) {
    case 'null':
      return null;
    case 'list':
      return tree.items.map(plainValue);
    case 'map':
      return Object.fromEntries(tree.entries.map(({ key, value }) => [key, plainValue(value)]));
    case 'int':
      return Number(tree.value);
    default:
      return tree.value;
  }
}
