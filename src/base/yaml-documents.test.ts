import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTrees, readTreesInSteps } from './yaml-documents.ts';
import { readTree, type Tree } from './yaml-tree.ts';

function plain(tree: Tree): unknown {
  if (tree.kind === 'list') return tree.items.map(plain);
  if (tree.kind === 'map') return Object.fromEntries(tree.entries.map(({ key, value }) => [key, plain(value)]));
  return tree.kind === 'null' ? null : tree.kind === 'int' ? Number(tree.value) : tree.value;
}

function valuesOf(text: string): readonly unknown[] {
  const read = readTrees(text);
  assert.ok('trees' in read, 'problem' in read ? read.problem.text : '');
  return read.trees.map(plain);
}

const many = (count: number, make: (index: number) => string) => Array.from({ length: count }, (_, at) => make(at));
const counted = (count: number) => Object.fromEntries(many(count, String).map((n) => [`k${n}`, Number(n)]));
const numbers = (count: number) => many(count, String).map((n) => ({ num: Number(n) }));

for (const { name, text, values } of [
  { name: 'nothing', text: '', values: [] },
  { name: 'comments only', text: '# one\n---\n# two\n', values: [] },
  {
    name: 'documents with empty ones between',
    text: '---\na: 1\n---\n---\n# x\n---\nb: 2\n...\n',
    values: [{ a: 1 }, { b: 2 }],
  },
  {
    name: 'a marker inside a quoted text is text',
    text: 'a: "x\\n---\\ny"\n',
    values: [{ a: 'x\n---\ny' }],
  },
  { name: 'JSON', text: '{"a": [1, {"b": null}]}', values: [{ a: [1, { b: null }] }] },
  {
    name: 'a long block list',
    text: `kind: List\nitems:\n${many(101, (n) => `- num: ${n} # ${n}\n`).join('')}end: 1\n`,
    values: [{ kind: 'List', items: numbers(101), end: 1 }],
  },
  {
    name: 'a long indented list, then another document',
    text: `items:\n${many(60, (n) => `  - num: ${n}\n`).join('')}...\n---\na: 1\n`,
    values: [{ items: numbers(60) }, { a: 1 }],
  },
  {
    name: 'two long lists',
    text: `items:\n${many(60, (n) => `- num: ${n}\n`).join('')}---\nitems:\n${many(50, (n) => `- num: ${n}\n`).join('')}`,
    values: [{ items: numbers(60) }, { items: numbers(50) }],
  },
  {
    name: 'a long JSON list',
    text: JSON.stringify({ items: numbers(99), kind: 'List' }, undefined, 1),
    values: [{ items: numbers(99), kind: 'List' }],
  },
  {
    name: 'aliases from one item of a long list into another',
    text: `items:\n- &first {num: 0}\n${many(60, () => '- *first\n').join('')}`,
    values: [{ items: many(61, () => '').map(() => ({ num: 0 })) }],
  },
  {
    name: 'long lists inside others, and anchors outside of them',
    text: `a: &a {num: 7}\nb:\n${many(50, (n) => `- c: [${many(30, () => '*a').join(', ')}]\n  d: ${n}\n`).join('')}`,
    values: [
      {
        a: { num: 7 },
        b: many(50, String).map((n) => ({ c: many(30, String).map(() => ({ num: 7 })), d: Number(n) })),
      },
    ],
  },
  {
    name: 'long maps, one of them in braces',
    text: `a: {${many(90, (n) => `k${n}: ${n}`).join(', ')}}\n${many(90, (n) => `k${n}: ${n}\n`).join('')}`,
    values: [{ a: counted(90), ...counted(90) }],
  },
  {
    name: 'a long merged list',
    text: `x: &x {a: 1}\nz:\n  <<: [${many(60, (n) => (n === 0 ? '*x' : `{k${n}: ${n}, a: 2}`)).join(', ')}]\n`,
    values: [
      {
        x: { a: 1 },
        z: { a: 1, ...Object.fromEntries(many(59, String).map((n) => [`k${Number(n) + 1}`, Number(n) + 1])) },
      },
    ],
  },
]) {
  test(`documents: ${name}`, () => assert.deepEqual(valuesOf(text), values));
}

for (const { name, text, line } of [
  { name: 'a bad line', text: 'a: 1\nb: [1\nc: 2\n', line: 3 },
  { name: 'a bad second document', text: 'a: 1\n---\nb: "x\n', line: 4 },
  {
    name: 'a bad item far down a long list',
    text: `items:\n${many(80, (n) => (n === 70 ? '- num: "x" y\n' : `- num: ${n}\n`)).join('')}`,
    line: 72,
  },
  {
    name: 'a long JSON list cut off',
    text: JSON.stringify({ items: numbers(99) }, undefined, 1).slice(0, 700),
    line: 97,
  },
  { name: 'an alias of nothing', text: 'a: *b\n', line: 1 },
  {
    name: 'a bomb of aliases',
    text: `a0: &a0 x\n${many(40, (n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`).join('')}`,
    line: 16,
  },
  { name: 'lists in lists in lists', text: `a: 1\nb: ${'['.repeat(100_000)}`, line: 2 },
  { name: 'maps in maps in maps', text: `a: 1\nb: ${'{a: '.repeat(300)}1${'}'.repeat(300)}`, line: 2 },
  { name: 'dashes behind dashes', text: `- 1\n- ${'- '.repeat(100_000)}`, line: 2 },
]) {
  test(`documents: ${name} is reported with its line`, () => {
    const read = readTrees(text);
    assert.ok('problem' in read, 'no problem found');
    assert.equal(read.problem.place.line, line, read.problem.text);
  });
}

test('documents: places are those of the whole text', () => {
  const text = `kind: List\nitems:\n${many(50, (n) => `- num: ${n}\n`).join('')}`;
  const read = readTrees(text);
  assert.ok('trees' in read && read.trees[0]?.kind === 'map');
  const items = read.trees[0].entries[1]?.value;
  assert.ok(items?.kind === 'list');
  assert.deepEqual(items.items[45]?.place, { line: 48, column: 3 });
  const whole = readTree(text);
  assert.deepEqual(read.trees[0], 'tree' in whole ? whole.tree : undefined);
});

for (const { name, text } of [
  {
    name: 'a long list',
    text: `items:\n${many(10_000, (n) => `- num: ${n}\n  list: [a, b, {c: d}]\n  map: {a: b}\n`).join('')}`,
  },
  {
    name: 'a long list somewhere inside, with an alias',
    text: `a: &a 1\nspec: {of: [{list: [*a, ${many(20_000, (n) => `{num: ${n}}`).join(', ')}]}]}`,
  },
])
  test(`documents: no step takes long: ${name}`, () => {
    const times: number[] = [];
    const steps = readTreesInSteps(text);
    for (let done: boolean | undefined = false; !done; ) {
      const start = performance.now();
      done = steps.next().done;
      times.push(performance.now() - start);
    }
    assert.ok(times.length > 500, `${times.length} steps`);
    const total = times.reduce((sum, time) => sum + time, 0);
    assert.ok(Math.max(...times) < total / 5, `a step of ${Math.max(...times)} ms of ${total} ms`);
  });
