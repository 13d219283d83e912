/**
 * All documents of a text, read in steps. A manifest can hold ten thousand objects and take seconds to read; the reader
 * steps through the generator and lets other work go on in between.
 */
import { Composer, type CST, type Document, isCollection as isNodeCollection, Lexer, Parser } from 'yaml';
import {
  buildTree,
  type CollectionApart,
  createPlaces,
  DEEPEST,
  finish,
  isNothing,
  PARSE_OPTIONS,
  type PlaceOf,
  type SyntaxProblem,
  syntaxProblem,
  TOO_DEEP,
  type Tree,
} from './yaml-tree.ts';

/** Every document that holds something. */
export type ReadTrees = { readonly trees: readonly Tree[] } | { readonly problem: SyntaxProblem };

/** A step takes about a millisecond. */
const LEXEMES_IN_A_STEP = 500;
const ITEMS_IN_A_STEP = 20;

/** All at once, for texts known to be small. */
export function readTrees(text: string): ReadTrees {
  return finish(readTreesInSteps(text));
}

/** Never throws: a text that is no YAML is an answer. A text with no document in it has no trees. */
export function* readTreesInSteps(text: string): Generator<undefined, ReadTrees> {
  const { lines, placeOf } = createPlaces();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer(PARSE_OPTIONS);
  const trees: Tree[] = [];
  const apart: Apart = new Map();
  let count = 0;

  for (const lexeme of new Lexer().lex(text)) {
    if (++count % LEXEMES_IN_A_STEP === 0) yield;
    if (parser.stack.length > DEEPEST) return { problem: { place: placeOf(parser.offset), text: TOO_DEEP } };
    for (const token of parser.next(lexeme)) {
      const problem = yield* compose(token);
      if (problem !== undefined) return { problem };
    }
  }
  for (const token of parser.end()) {
    const problem = yield* compose(token);
    if (problem !== undefined) return { problem };
  }
  const problem = yield* collect(composer.end());
  if (problem !== undefined) return { problem };
  const stray = composer.streamInfo().errors[0];
  return stray === undefined ? { trees } : { problem: syntaxProblem(stray, placeOf) };

  function* compose(token: CST.Token): Generator<undefined, SyntaxProblem | undefined> {
    if (token.type !== 'document' || token.value === undefined) return yield* collect(composer.next(token));
    const short = yield* shorten(token.value, placeOf, apart);
    if ('problem' in short) return short.problem;
    yield;
    return yield* collect(composer.next({ ...token, value: short.token }));
  }

  /** The composer gives a document away when it gets the next one. */
  function* collect(documents: Iterable<Document.Parsed>): Generator<undefined, SyntaxProblem | undefined> {
    for (const document of documents) {
      const [error] = document.errors;
      if (error !== undefined) return syntaxProblem(error, placeOf);
      if (isNothing(document.contents)) continue;
      const built = yield* buildTree(document, placeOf, apart);
      if ('problem' in built) return built.problem;
      trees.push(built.tree);
    }
    return undefined;
  }
}

type Apart = Map<number, CollectionApart>;
type Collection = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;
type Shortened = { readonly token: CST.Token } | { readonly problem: SyntaxProblem };

const isCollection = (token: CST.Token): token is Collection =>
  token.type === 'block-map' || token.type === 'block-seq' || token.type === 'flow-collection';

/**
 * The same with long collections cut short, those inside others first. Their items are composed here, a few in a step, and kept
 * apart, by the offset at which what is left of the collection begins. Not those of a key: a collection is no key.
 */
function* shorten(token: CST.Token, placeOf: PlaceOf, apart: Apart): Generator<undefined, Shortened> {
  if (!isCollection(token)) return { token };
  const given: readonly CST.CollectionItem[] = token.items;
  const items: CST.CollectionItem[] = [];
  for (const item of given) {
    if (item.value === undefined || !isCollection(item.value)) items.push(item);
    else {
      const short = yield* shorten(item.value, placeOf, apart);
      if ('problem' in short) return short;
      items.push({ ...item, value: short.token } as CST.CollectionItem);
    }
  }
  const whole = { ...token, items } as Collection;
  if (items.length <= ITEMS_IN_A_STEP || isUnclosed(token)) return { token: whole };
  const composed = yield* composeItems(whole, placeOf);
  if ('problem' in composed) return composed;
  // The last item stays: what follows must find the collection end where it ends.
  const rest = sliceOf(whole, items.length - 1);
  apart.set(rest.offset, { begins: token.offset, items: composed.items });
  return { token: rest };
}

/** One that never ends is for the whole document to complain about. */
function isUnclosed(token: Collection): boolean {
  if (token.type !== 'flow-collection') return false;
  return token.end[0]?.type !== (token.start.type === 'flow-seq-start' ? 'flow-seq-end' : 'flow-map-end');
}

function* composeItems(
  collection: Collection,
  placeOf: PlaceOf,
): Generator<undefined, { readonly items: readonly unknown[] } | { readonly problem: SyntaxProblem }> {
  const items: unknown[] = [];
  for (let at = 0; at < collection.items.length; at += ITEMS_IN_A_STEP) {
    yield;
    const slice = sliceOf(collection, at);
    const document: CST.Document = { type: 'document', offset: slice.offset, start: [], value: slice };
    const [composed] = new Composer(PARSE_OPTIONS).compose([document]);
    const [error] = composed?.errors ?? [];
    if (error !== undefined) return { problem: syntaxProblem(error, placeOf) };
    if (isNodeCollection(composed?.contents)) for (const item of composed.contents.items) items.push(item);
  }
  return { items };
}

function sliceOf(collection: Collection, at: number): Collection {
  const items: readonly CST.CollectionItem[] = collection.items.slice(at, at + ITEMS_IN_A_STEP);
  const [first, ...more] = items;
  // The comma before the first item of a slice belongs to the item before it.
  const start = first?.start.filter(({ type }) => type !== 'comma') ?? [];
  // The composer measures from where the collection begins how far a key is from its colon.
  const begin = start[0] ?? first?.key ?? first?.sep?.[0] ?? first?.value;
  const offset = at === 0 ? collection.offset : (begin?.offset ?? collection.offset);
  if (collection.type !== 'flow-collection') return { ...collection, offset, items } as Collection;
  return { ...collection, offset: at === 0 ? offset : offset - 1, items: [{ ...first, start }, ...more] };
}
