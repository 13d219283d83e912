/**
 * All documents of a text, read in steps. A manifest can hold ten thousand objects and take seconds to read; whoever reads it
 * steps through the generator and lets other work go on in between.
 */
import { Composer, type CST, type Document, Lexer, Parser } from 'yaml';
import {
  buildTree,
  createPlaces,
  isNothing,
  PARSE_OPTIONS,
  type PlaceOf,
  type SyntaxProblem,
  syntaxProblem,
  type Tree,
} from './yaml-tree.ts';

/** Every document that holds something. */
export type ReadTrees = { readonly trees: readonly Tree[] } | { readonly problem: SyntaxProblem };

/** A step takes about a millisecond. */
const LEXEMES_IN_A_STEP = 500;
const ITEMS_IN_A_STEP = 20;

/** All at once, for texts known to be small. */
export function readTrees(text: string): ReadTrees {
  const steps = readTreesInSteps(text);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** Never throws: a text that is no YAML is an answer. A text with no document in it has no trees. */
export function* readTreesInSteps(text: string): Generator<undefined, ReadTrees> {
  const { lines, placeOf } = createPlaces();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer(PARSE_OPTIONS);
  const trees: Tree[] = [];
  let count = 0;
  let aliases = false;
  // The items of the document that the composer holds, where they were composed apart.
  let held: readonly Tree[] | undefined;
  for (const lexeme of new Lexer().lex(text)) {
    if (++count % LEXEMES_IN_A_STEP === 0) yield;
    aliases ||= lexeme.startsWith('*');
    for (const token of parser.next(lexeme)) {
      const problem = yield* compose(token);
      if (problem !== undefined) return { problem };
    }
  }
  for (const token of parser.end()) {
    const problem = yield* compose(token);
    if (problem !== undefined) return { problem };
  }
  const problem = collect(composer.end());
  if (problem !== undefined) return { problem };
  const stray = composer.streamInfo().errors[0];
  return stray === undefined ? { trees } : { problem: syntaxProblem(stray, placeOf) };

  function* compose(token: CST.Token): Generator<undefined, SyntaxProblem | undefined> {
    if (token.type !== 'document') return collect(composer.next(token));
    // An alias may point from one item into another: such a document is composed as a whole.
    const long = aliases ? undefined : takeLongList(token);
    const items = long === undefined ? undefined : yield* composeItems(long.items, placeOf);
    if (items !== undefined && 'problem' in items) return items.problem;
    const problem = collect(composer.next(long?.rest ?? token));
    held = items?.trees;
    return problem;
  }

  /** The composer gives a document away when it gets the next one. */
  function collect(documents: Iterable<Document.Parsed>): SyntaxProblem | undefined {
    for (const document of documents) {
      const [error] = document.errors;
      if (error !== undefined) return syntaxProblem(error, placeOf);
      if (isNothing(document.contents)) continue;
      const built = buildTree(document, placeOf);
      if ('problem' in built) return built.problem;
      trees.push(held === undefined ? built.tree : withItems(built.tree, held));
    }
    return undefined;
  }
}

type LongList = CST.BlockSequence | CST.FlowCollection;

/** The document with a short `items:`, and the whole of those, where they are many. */
function takeLongList(document: CST.Document): { readonly rest: CST.Document; readonly items: LongList } | undefined {
  const top = document.value;
  if (top?.type !== 'block-map' && top?.type !== 'flow-collection') return undefined;
  const pairs: readonly CST.CollectionItem[] = top.items;
  const index = pairs.findIndex(({ key }) => key != null && 'source' in key && /^["']?items["']?$/.test(key.source));
  const items = pairs[index]?.value;
  if ((items?.type !== 'block-seq' && items?.type !== 'flow-collection') || items.items.length <= ITEMS_IN_A_STEP) {
    return undefined;
  }
  // One that never ends is for the whole document to complain about.
  if (items.type === 'flow-collection' && items.end[0]?.type !== 'flow-seq-end') return undefined;
  // The last item stays: what follows must find the list end where it ends.
  const shortened = sliceOf(items, items.items.length - 1);
  const rest = pairs.map((pair, at) => (at === index ? { ...pair, value: shortened } : pair));
  return { rest: { ...document, value: { ...top, items: rest } as CST.Token }, items };
}

function* composeItems(list: LongList, placeOf: PlaceOf): Generator<undefined, ReadTrees> {
  const trees: Tree[] = [];
  for (let at = 0; at < list.items.length; at += ITEMS_IN_A_STEP) {
    yield;
    const slice = sliceOf(list, at);
    const document: CST.Document = { type: 'document', offset: list.offset, start: [], value: slice };
    const [composed] = new Composer(PARSE_OPTIONS).compose([document]);
    const [error] = composed?.errors ?? [];
    if (error !== undefined) return { problem: syntaxProblem(error, placeOf) };
    const built = buildTree({ contents: composed?.contents }, placeOf);
    if ('problem' in built) return built;
    if (built.tree.kind === 'list') trees.push(...built.tree.items);
  }
  return { trees };
}

function sliceOf(list: LongList, at: number): LongList {
  const items: readonly CST.CollectionItem[] = list.items.slice(at, at + ITEMS_IN_A_STEP);
  if (list.type === 'block-seq') return { ...list, items: items as typeof list.items };
  // The comma before the first item of a slice belongs to the item before it.
  const [first, ...more] = items;
  const start = first?.start.filter(({ type }) => type !== 'comma') ?? [];
  return { ...list, items: [{ ...first, start }, ...more] };
}

function withItems(tree: Tree, items: readonly Tree[]): Tree {
  if (tree.kind !== 'map') return tree;
  const entries = tree.entries.map((entry) =>
    entry.key === 'items' && entry.value.kind === 'list' ? { ...entry, value: { ...entry.value, items } } : entry,
  );
  return { ...tree, entries };
}
