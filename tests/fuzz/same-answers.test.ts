/** What is done in one pass or in steps has the answer of the plain way to do it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { readTrees } from '../../src/base/yaml-documents.ts';
import { readTree } from '../../src/base/yaml-tree.ts';
import { expand } from '../../src/runtime/spec/expand.ts';

test('references to variables: as a pattern finds them', () => {
  const values: Readonly<Record<string, string>> = { A: 'one', B: '$(A)', '': 'empty', '$(A': 'odd' };
  const lookup = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
  const plain = (text: string) =>
    text.replace(/\$(?:\$|\(([^)]*)\))/g, (all, name?: string) => (name === undefined ? '$' : (lookup(name) ?? all)));
  const text = fc
    .array(fc.constantFrom('$', '(', ')', 'A', 'B', 'x', '$(A)', '$$', '😀'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (one) => {
      assert.deepEqual(expand(one, lookup, 10_000), { ok: true, value: plain(one) });
    }),
    { numRuns: 2000 },
  );
});

const leaf = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.constantFrom(null, true, 'yes', '- a', 'a: b', '#', 'x\ny', '"', '[', 'k: |'),
);
const key = fc.string({ minLength: 1, maxLength: 5 });
const collection = (item: fc.Arbitrary<unknown>, most: number) =>
  fc.oneof(fc.array(item, { maxLength: most, size: 'max' }), fc.dictionary(key, item, { maxKeys: most, size: 'max' }));
/** Some long enough to be composed in several steps, at different depths. */
const documents = collection(
  fc.oneof(leaf, collection(fc.oneof(leaf, collection(leaf, 3)), 50), collection(leaf, 50)),
  4,
);

for (const [format, write] of Object.entries({
  YAML: (value: unknown) => stringify(value),
  'YAML with long lines': (value: unknown) => stringify(value, { lineWidth: 0, indentSeq: false }),
  'YAML in brackets': (value: unknown) => stringify(value, { collectionStyle: 'flow' }),
  JSON: (value: unknown) => JSON.stringify(value),
  'JSON in lines': (value: unknown) => JSON.stringify(value, undefined, 1),
})) {
  test(`documents in steps: values and places are those of the whole text (${format})`, () => {
    fc.assert(
      fc.property(documents, (value) => {
        const text = write({ a: value });
        const whole = readTree(text);
        const steps = readTrees(text);
        const tree = 'trees' in steps ? steps.trees[0] : steps.problem;
        assert.deepEqual(tree, 'tree' in whole ? whole.tree : whole.problem, text);
      }),
      { numRuns: 40 },
    );
  });
}
