/** From the JSON of a request to an object whose fields have the right kinds; quantities in their canonical form. */
import { decodeObject } from '../../api/object-decode.ts';
import type { StructKind } from '../../api/object-schema.ts';
import type { Tree } from '../../base/yaml-tree.ts';
import { badRequest } from './refusal.ts';
import type { Resource } from './resources.ts';

const NOWHERE = { line: 1, column: 1 };
/** No object is a tenth as deep. */
const DEEPEST = 200;

export interface Decoded {
  readonly value: Readonly<Record<string, unknown>>;
  /** `unknown field "spec.foo"`. */
  readonly warnings: readonly string[];
}

export function decodeBody(
  { kind, version, schema }: Pick<Resource, 'kind' | 'version' | 'schema'>,
  body: unknown,
): Decoded {
  const { value, problems, warnings } = decodeObject(schema, treeOf(body, 0));
  const [first] = problems;
  if (first !== undefined) {
    const text = first.path === '' ? first.text : `${first.path}: ${first.text}`;
    throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${text}`);
  }
  return { value, warnings: warnings.map(({ path }) => `unknown field ${JSON.stringify(path)}`) };
}

export function decodeOptions(schema: StructKind, body: unknown): Readonly<Record<string, unknown>> {
  return decodeBody({ kind: 'DeleteOptions', version: 'v1', schema }, body).value;
}

/** As if it had been read from a text; the places are not shown to anyone. */
function treeOf(value: unknown, depth: number): Tree {
  if (depth > DEEPEST) throw badRequest(`the object is nested deeper than ${DEEPEST} levels`);
  const place = NOWHERE;
  if (value === null || value === undefined) return { place, kind: 'null' };
  if (Array.isArray(value)) return { place, kind: 'list', items: value.map((item) => treeOf(item, depth + 1)) };
  switch (typeof value) {
    case 'string':
      return { place, kind: 'string', value };
    case 'boolean':
      return { place, kind: 'bool', value };
    case 'number':
      return { place, kind: 'float', value };
    default:
      return {
        place,
        kind: 'map',
        entries: Object.entries(value as object).map(([key, item]) => ({ key, place, value: treeOf(item, depth + 1) })),
      };
  }
}
