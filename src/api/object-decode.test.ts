import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readTrees } from '../base/yaml-documents.ts';
import { decodeObject, placeOfPath } from './object-decode.ts';
import { BOOL, INT_OR_STRING, INT32, INT64, list, map, QUANTITY, STRING, struct } from './object-schema.ts';
import { POD } from './pod-schema.ts';

const THING = struct({
  text: STRING,
  flag: BOOL,
  small: INT32,
  large: INT64,
  amount: QUANTITY,
  either: INT_OR_STRING,
  names: list(STRING),
  labels: map(STRING),
  sizes: map(QUANTITY),
  parts: list(struct({ name: STRING })),
});

function decode(text: string) {
  const read = readTrees(text);
  assert.ok('trees' in read && read.trees[0] !== undefined, text);
  return { ...decodeObject(THING, read.trees[0]), tree: read.trees[0] };
}

for (const { text, value } of [
  { text: 'text: a\nflag: yes\nsmall: 010\nlarge: 1e3\n', value: { text: 'a', flag: true, small: 8, large: 1000 } },
  { text: 'amount: 0.5\n', value: { amount: '500m' } },
  { text: 'amount: 1024Mi\n', value: { amount: '1Gi' } },
  { text: 'amount: 2\n', value: { amount: '2' } },
  { text: 'either: 80\n', value: { either: 80 } },
  { text: 'either: "80"\n', value: { either: '80' } },
  { text: 'text: null\nnames: ~\n', value: {} },
  {
    text: 'names: [a, null]\nlabels: {a: null}\nparts: [null]\n',
    value: { names: ['a', ''], labels: { a: '' }, parts: [{}] },
  },
  { text: 'sizes: {a: null}\n', value: { sizes: { a: '0' } } },
  { text: 'text: a\ntext: b\n', value: { text: 'b' } },
  { text: 'unknown: {x: 1}\ntext: a\n', value: { text: 'a' } },
  {
    text: '{"labels": {"__proto__": "x", "constructor": "y"}}',
    value: {
      labels: Object.fromEntries([
        ['__proto__', 'x'],
        ['constructor', 'y'],
      ]),
    },
  },
]) {
  test(`decode: ${JSON.stringify(text)}`, () => {
    const { value: found, problems } = decode(text);
    assert.deepEqual(problems, []);
    assert.equal(JSON.stringify(found), JSON.stringify(value));
  });
}

for (const { text, path, place, words } of [
  { text: 'text: 5', path: 'text', place: '1:7', words: /must be a string, in quotes if need be; found 5/ },
  { text: 'text: true', path: 'text', place: '1:7', words: /found true/ },
  { text: 'text: [a]', path: 'text', place: '1:7', words: /found a list/ },
  {
    text: 'flag: "true"',
    path: 'flag',
    place: '1:7',
    words: /must be true or false, without quotes; found the string "true"/,
  },
  { text: 'small: 2147483648', path: 'small', place: '1:8', words: /must be an integer of 32 bits/ },
  { text: 'small: 1.5', path: 'small', place: '1:8', words: /must be an integer/ },
  { text: 'large: 1e30', path: 'large', place: '1:8', words: /must be an integer of 64 bits/ },
  { text: 'amount: a lot', path: 'amount', place: '1:9', words: /"a lot" is not a quantity/ },
  { text: 'names: a', path: 'names', place: '1:8', words: /must be a list; found the string "a"/ },
  { text: 'labels: [a]', path: 'labels', place: '1:9', words: /must be a map; found a list/ },
  { text: 'labels:\n  a/b.c: 5', path: 'labels[a/b.c]', place: '2:10', words: /must be a string/ },
  { text: 'parts:\n- name: a\n- name: 7', path: 'parts[1].name', place: '3:9', words: /must be a string/ },
  { text: 'parts:\n- 7', path: 'parts[0]', place: '2:3', words: /must be a map of fields; found 7/ },
  { text: `text: [${'x'.repeat(200)}]`, path: 'text', place: '1:7', words: /found a list/ },
]) {
  test(`decode: ${JSON.stringify(text.slice(0, 60))} is refused`, () => {
    const { problems, tree } = decode(text);
    assert.equal(problems.length, 1);
    const [problem] = problems;
    assert.equal(problem?.path, path);
    assert.equal(`${problem?.place.line}:${problem?.place.column}`, place);
    assert.match(problem?.text ?? '', words);
    const found = placeOfPath(tree, path);
    assert.equal(`${found.line}:${found.column}`, place);
  });
}

test('decode: unknown and repeated fields are warnings with their place', () => {
  const { warnings } = decode('text: a\nTEXT: b\ntext: c\nparts:\n- nam: x\n');
  assert.deepEqual(
    warnings.map(({ place, path, text }) => `${place.line}:${place.column} ${path}: ${text}`).toSorted(),
    [
      '2:1 TEXT: unknown field, not used',
      '3:1 text: written twice, first on line 1; the last one counts',
      '5:3 parts[0].nam: unknown field, not used',
    ],
  );
});

test('decode: the place of what is missing is that of what should hold it', () => {
  const { tree } = decode('parts:\n- name: a\n');
  assert.deepEqual(placeOfPath(tree, 'parts[0].image.tag'), { line: 2, column: 3 });
  assert.deepEqual(placeOfPath(tree, 'nothing.at.all'), { line: 1, column: 1 });
});

test('decode: no value in any place makes it throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (spec, metadata) => {
      const read = readTrees(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }));
      assert.ok('trees' in read && read.trees[0] !== undefined);
      const { value, problems } = decodeObject(POD, read.trees[0]);
      assert.ok(problems.length > 0 || typeof value === 'object');
    }),
  );
});
