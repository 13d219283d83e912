/**
 * Whether an object that another program sent as JSON has the shape of its type. Fields that are not known here are left alone. Null
 * in a known field stands for a field that is not there: a copy without it is given back, or the object itself where there is none.
 */
import type { FieldKind, StructKind } from './object-schema.ts';
import { type Parsed, parsed, unparsable } from './parsed.ts';
import { parseTimestamp } from './timestamp.ts';

/** Deeper than any type goes, and far from the end of the stack. */
const DEEPEST = 64;

type Fields = Readonly<Record<string, unknown>>;

export function readShape(type: StructKind, value: unknown): Parsed<Fields> {
  return readFields(type, value, '', 0);
}

function readFields({ fields }: StructKind, value: unknown, path: string, depth: number): Parsed<Fields> {
  if (!isFields(value)) return wrong(path, 'a map of fields', value);
  if (depth > DEEPEST) return unparsable(`${path}: nested too deep`);
  return mapEntries(value, (item, key) => {
    const kind = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (kind === undefined) return parsed(item);
    if (item === null) return parsed(undefined);
    return readValue(kind, item, path === '' ? key : `${path}.${key}`, depth + 1);
  });
}

function readValue(type: FieldKind, value: unknown, path: string, depth: number): Parsed<unknown> {
  switch (type.kind) {
    case 'struct':
      return readFields(type, value, path, depth);
    case 'list':
      return readList(type.item, value, path, depth);
    case 'map':
      if (!isFields(value)) return wrong(path, 'a map', value);
      return mapEntries(value, (item, key) =>
        item === null ? parsed(undefined) : readValue(type.item, item, `${path}[${key}]`, depth + 1),
      );
    case 'anything':
      return parsed(value);
    case 'time':
      return typeof value === 'string' && parseTimestamp(value) !== undefined
        ? parsed(value)
        : wrong(path, 'a time', value);
    case 'string':
      return typeof value === 'string' ? parsed(value) : wrong(path, 'a string', value);
    case 'bool':
      return typeof value === 'boolean' ? parsed(value) : wrong(path, 'true or false', value);
    case 'int32':
    case 'int64':
      return Number.isInteger(value) ? parsed(value) : wrong(path, 'an integer', value);
    case 'quantity':
    case 'intOrString':
      return typeof value === 'string' || typeof value === 'number'
        ? parsed(value)
        : wrong(path, 'a string or a number', value);
  }
}

function readList(type: FieldKind, value: unknown, path: string, depth: number): Parsed<readonly unknown[]> {
  if (!Array.isArray(value)) return wrong(path, 'a list', value);
  let copy: unknown[] | undefined;
  for (const [index, item] of value.entries()) {
    const read = readValue(type, item, `${path}[${index}]`, depth + 1);
    if (!read.ok) return read;
    if (read.value === item) continue;
    copy ??= [...value];
    copy[index] = read.value;
  }
  return parsed(copy ?? value);
}

/** The same object where nothing changes; what is read as undefined is left out. Own keys such as `__proto__` stay own keys. */
function mapEntries(value: Fields, read: (item: unknown, key: string) => Parsed<unknown>): Parsed<Fields> {
  let isChanged = false;
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const found = read(item, key);
    if (!found.ok) return found;
    isChanged ||= found.value !== item;
    if (found.value !== undefined) entries.push([key, found.value]);
  }
  return parsed(isChanged ? Object.fromEntries(entries) : value);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(path: string, wanted: string, value: unknown): Parsed<never> {
  const found = Array.isArray(value) ? 'a list' : value === null ? 'null' : typeof value;
  return unparsable(`${path === '' ? 'the object' : path} must be ${wanted}; found ${found}`);
}
