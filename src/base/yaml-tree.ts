/** A YAML or JSON text as a tree in which every value knows its place. */
import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  type Scalar as YamlScalar,
} from 'yaml';
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

/** No object of ours is a tenth as deep; what reads a tree does so by recursion. */
export const DEEPEST = 200;
export const TOO_DEEP = `nested deeper than ${DEEPEST} levels`;
/** As many as take a moment to read: twenty aliases of aliases can stand for a million million values. */
const MOST_ALIASED = 100_000;
const VALUES_IN_A_STEP = 200;

/** Never throws: a text that is no YAML is an answer. */
export function readTree(text: string): ReadTree {
  const read = parseDocuments(text);
  if ('problem' in read) return read;
  const [first, second] = read.documents;
  if (first === undefined) return { problem: { place: { line: 1, column: 1 }, text: 'the file is empty' } };
  const built = finish(buildTree(first, read.placeOf, new Map()));
  if ('problem' in built) return built;
  return { tree: built.tree, second: second === undefined ? undefined : read.placeOf(second.range[0]) };
}

/** All steps at once, for texts known to be small. */
export function finish<T>(steps: Generator<undefined, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
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
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer(PARSE_OPTIONS);
  const documents: Document.Parsed[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    // The parser, too, works by recursion.
    if (parser.stack.length > DEEPEST) return { problem: { place: placeOf(parser.offset), text: TOO_DEEP } };
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end());
  // The first error only: the others usually follow from it.
  const error = documents.flatMap((document) => document.errors)[0];
  if (error !== undefined) return { problem: syntaxProblem(error, placeOf) };
  return { documents: documents.filter((document) => !isNothing(document.contents)), placeOf };
}

export function syntaxProblem(error: { readonly pos: readonly number[]; readonly message: string }, placeOf: PlaceOf) {
  return { place: placeOf(error.pos[0] ?? 0), text: `not valid YAML or JSON: ${error.message}` };
}

/** A collection whose items were composed apart. */
export interface CollectionApart {
  /** Offset of the collection. */
  readonly begins: number;
  readonly items: readonly unknown[];
}

/** By the offset of the part of the collection that stands in the document. */
export type ItemsApart = ReadonlyMap<number, CollectionApart>;

export type BuiltTree = { readonly tree: Tree } | { readonly problem: SyntaxProblem };

export function* buildTree(
  document: Pick<ParsedDocument, 'contents'>,
  placeOf: PlaceOf,
  apart: ItemsApart,
): Generator<undefined, BuiltTree> {
  try {
    return { tree: yield* new TreeBuilder(placeOf, apart).build(document.contents, 0) };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.problem };
    throw error;
  }
}

export function isNothing(node: unknown): boolean {
  return node === null || (isScalar(node) && node.type === 'PLAIN' && node.value === '' && node.tag === undefined);
}

class TreeBuilder {
  // An alias shares the finished tree of its anchor: nothing is copied, and an anchor that would hold itself is not there yet
  // when it is asked for. A reader of the tree goes through the shared part each time, so what aliases stand for is bounded.
  readonly #anchors = new Map<string, { readonly tree: Tree; readonly values: number }>();
  readonly #placeOf: PlaceOf;
  readonly #apart: ItemsApart;
  /** So many values a reader of what was built until now goes through, and so many of them by aliases. */
  #values = 0;
  #aliased = 0;

  constructor(placeOf: PlaceOf, apart: ItemsApart) {
    this.#placeOf = placeOf;
    this.#apart = apart;
  }

  *build(node: unknown, depth: number): Generator<undefined, Tree> {
    if (isAlias(node)) return this.#shared(node);
    if (depth > DEEPEST) throw new Unreadable(this.#place(node), TOO_DEEP);
    const before = this.#values;
    this.#values += 1;
    if (this.#values % VALUES_IN_A_STEP === 0) yield;
    const tree = isScalar(node) ? this.#buildScalar(node) : yield* this.#buildCollection(node, depth + 1);
    const anchor = isMap(node) || isSeq(node) || isScalar(node) ? node.anchor : undefined;
    if (anchor !== undefined) this.#anchors.set(anchor, { tree, values: this.#values - before });
    return tree;
  }

  #shared(alias: Alias): Tree {
    const place = this.#place(alias);
    const target = this.#anchors.get(alias.source);
    if (target === undefined) throw new Unreadable(place, `no anchor &${alias.source} before this alias`);
    this.#values += target.values;
    this.#aliased += target.values;
    if (this.#aliased > MOST_ALIASED) {
      throw new Unreadable(place, `the aliases until here stand for more than ${MOST_ALIASED} values`);
    }
    return { ...target.tree, place };
  }

  #place(node: unknown): Place {
    const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    return this.#placeOf(isCollection(node) ? (this.#apart.get(offset)?.begins ?? offset) : offset);
  }

  #itemsOf<T>(collection: { readonly items: readonly T[]; readonly range?: readonly number[] | null | undefined }) {
    return (this.#apart.get(collection.range?.[0] ?? -1)?.items as readonly T[] | undefined) ?? collection.items;
  }

  #buildScalar(node: YamlScalar): Tree {
    const place = this.#place(node);
    return { place, ...this.#scalar(place, String(node.value), node.tag, node.type === 'PLAIN') };
  }

  *#buildCollection(node: unknown, depth: number): Generator<undefined, Tree> {
    const place = this.#place(node);
    if (isSeq(node)) {
      const items: Tree[] = [];
      for (const item of this.#itemsOf(node)) items.push(yield* this.build(item, depth));
      return { place, kind: 'list', items };
    }
    if (!isMap(node)) return { place, kind: 'null' };
    const own: Entry[] = [];
    const merged: Entry[] = [];
    for (const { key, value } of this.#itemsOf(node)) {
      const name = yield* this.build(key, depth);
      const tree = value === null ? ({ place: name.place, kind: 'null' } as const) : yield* this.build(value, depth);
      if (isMergeKey(key)) for (const entry of mergedEntries(tree)) merged.push(entry);
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
  const entries: Entry[] = [];
  const known = new Set<string>();
  for (const item of tree.items) {
    if (item.kind !== 'map') throw new Unreadable(item.place, '<< must name a map or a list of maps');
    for (const entry of item.entries) if (!known.has(entry.key)) entries.push(entry);
    for (const { key } of item.entries) known.add(key);
  }
  return entries;
}

function withoutKnown(entries: readonly Entry[], known: readonly Entry[]): readonly Entry[] {
  const keys = new Set(known.map((entry) => entry.key));
  return entries.filter((entry) => !keys.has(entry.key));
}
