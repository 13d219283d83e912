/** A YAML or JSON text as a tree in which every value knows its place. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import { resolvePlain, resolveTagged, type Scalar } from './yaml-scalar.ts';

/** Line and column, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Entry {
  readonly key: string;
  readonly place: Place;
  readonly value: Tree;
}

export type Tree = { readonly place: Place } & (
  | Scalar
  | { readonly kind: 'list'; readonly items: readonly Tree[] }
  /** In the order of the text: a key that is written twice stands here twice. */
  | { readonly kind: 'map'; readonly entries: readonly Entry[] }
);

export interface SyntaxProblem {
  readonly place: Place;
  readonly text: string;
}

/** Of several documents the first is read, as in the reference; `second` says where the next one begins. */
export type ReadTree =
  | { readonly tree: Tree; readonly second: Place | undefined }
  | { readonly problem: SyntaxProblem };

/** Carries a problem out of the depth of the tree; never leaves this file. */
class Unreadable extends Error {
  readonly problem: SyntaxProblem;

  constructor(place: Place, text: string) {
    super(text);
    this.problem = { place, text };
  }
}

/** Never throws: a text that is no YAML is an answer. */
export function readTree(text: string): ReadTree {
  const read = parseDocuments(text);
  if ('problem' in read) return read;
  const [first, second] = read.documents;
  if (first === undefined) return { problem: { place: { line: 1, column: 1 }, text: 'the file is empty' } };
  const built = buildTree(first, read.placeOf);
  if ('problem' in built) return built;
  return { tree: built.tree, second: second === undefined ? undefined : read.placeOf(second.range[0]) };
}

export type PlaceOf = (offset: number) => Place;

export interface ParsedDocument {
  readonly contents: unknown;
  readonly range: readonly [number, number, number];
}

/** Scalars are left as text, because what they mean is for `resolvePlain` to say. */
export const PARSE_OPTIONS = {
  schema: 'failsafe',
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

export function createPlaces(): { readonly lines: LineCounter; readonly placeOf: PlaceOf } {
  const lines = new LineCounter();
  return {
    lines,
    placeOf: (offset) => {
      const { line, col } = lines.linePos(offset);
      return { line: Math.max(line, 1), column: Math.max(col, 1) };
    },
  };
}

function parseDocuments(
  text: string,
): { readonly documents: readonly ParsedDocument[]; readonly placeOf: PlaceOf } | { readonly problem: SyntaxProblem } {
  const { lines, placeOf } = createPlaces();
  const documents = parseAllDocuments(text, { ...PARSE_OPTIONS, lineCounter: lines });
  // The first error only: the others usually follow from it.
  const error = documents.flatMap((document) => document.errors)[0];
  if (error !== undefined) return { problem: syntaxProblem(error, placeOf) };
  return { documents: documents.filter((document) => !isNothing(document.contents)), placeOf };
}

export function syntaxProblem(error: { readonly pos: readonly number[]; readonly message: string }, placeOf: PlaceOf) {
  return { place: placeOf(error.pos[0] ?? 0), text: `not valid YAML or JSON: ${error.message}` };
}

export function buildTree(
  document: Pick<ParsedDocument, 'contents'>,
  placeOf: PlaceOf,
): { readonly tree: Tree } | { readonly problem: SyntaxProblem } {
  try {
    return { tree: new TreeBuilder(placeOf).build(document.contents) };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.problem };
    throw error;
  }
}

export function isNothing(node: unknown): boolean {
  return node === null || (isScalar(node) && node.type === 'PLAIN' && node.value === '' && node.tag === undefined);
}

class TreeBuilder {
  // An alias shares the finished tree of its anchor. Nothing is copied, so nested aliases can't grow without limit, and
  // an anchor that would hold itself is not there yet when it is asked for.
  readonly #anchors = new Map<string, Tree>();
  readonly #placeOf: PlaceOf;

  constructor(placeOf: PlaceOf) {
    this.#placeOf = placeOf;
  }

  build(node: unknown): Tree {
    if (isAlias(node)) {
      const place = this.#placeOf(node.range?.[0] ?? 0);
      const target = this.#anchors.get(node.source);
      if (target === undefined) throw new Unreadable(place, `no anchor &${node.source} before this alias`);
      return { ...target, place };
    }
    const tree = this.#buildOwn(node);
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, tree);
    return tree;
  }

  #buildOwn(node: unknown): Tree {
    if (isScalar(node)) {
      const place = this.#placeOf(node.range?.[0] ?? 0);
      return { place, ...this.#scalar(place, String(node.value), node.tag, node.type === 'PLAIN') };
    }
    if (isSeq(node)) {
      const place = this.#placeOf(node.range?.[0] ?? 0);
      return { place, kind: 'list', items: node.items.map((item) => this.build(item)) };
    }
    if (!isMap(node)) return { place: this.#placeOf(0), kind: 'null' };
    const place = this.#placeOf(node.range?.[0] ?? 0);
    const own: Entry[] = [];
    const merged: Entry[] = [];
    for (const { key, value } of node.items) {
      const name = this.build(key);
      const tree = value === null ? ({ place: name.place, kind: 'null' } as const) : this.build(value);
      if (isMergeKey(key)) merged.push(...mergedEntries(tree));
      else own.push({ key: keyText(name), place: name.place, value: tree });
    }
    return { place, kind: 'map', entries: [...withoutKnown(merged, own), ...own] };
  }

  #scalar(place: Place, text: string, tag: string | undefined, isPlain: boolean): Scalar {
    if (tag === undefined) return isPlain ? resolvePlain(text) : { kind: 'string', value: text };
    const scalar = resolveTagged(tag, text);
    if (scalar === undefined) throw new Unreadable(place, `${JSON.stringify(text)} can't be read as ${tag}`);
    return scalar;
  }
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === '<<' && key.tag === undefined;
}

function keyText(tree: Tree): string {
  switch (tree.kind) {
    case 'string':
      return tree.value;
    case 'bool':
    case 'int':
    case 'float':
      return String(tree.value);
    default:
      throw new Unreadable(tree.place, `a key must be a single word, not ${tree.kind}`);
  }
}

/** The entries that `<<` brings in: of one map, or of several, the first of which wins. */
function mergedEntries(tree: Tree): readonly Entry[] {
  if (tree.kind === 'map') return tree.entries;
  if (tree.kind !== 'list') throw new Unreadable(tree.place, '<< must name a map or a list of maps');
  let entries: readonly Entry[] = [];
  for (const item of tree.items) {
    if (item.kind !== 'map') throw new Unreadable(item.place, '<< must name a map or a list of maps');
    entries = [...entries, ...withoutKnown(item.entries, entries)];
  }
  return entries;
}

function withoutKnown(entries: readonly Entry[], known: readonly Entry[]): readonly Entry[] {
  const keys = new Set(known.map((entry) => entry.key));
  return entries.filter((entry) => !keys.has(entry.key));
}
