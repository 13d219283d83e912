import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expand } from './expand.ts';

test('references, escapes and what is neither', () => {
  const values: Readonly<Record<string, string>> = { A: 'one', B: '$(A)', EMPTY: '', 'a b': 'spaced' };
  const cases: readonly (readonly [string, string])[] = [
    ['', ''],
    ['plain', 'plain'],
    ['$(A)', 'one'],
    ['x$(A)y$(A)', 'xoneyone'],
    ['$(B)', '$(A)'],
    ['$(EMPTY)', ''],
    ['$(a b)', 'spaced'],
    ['$(MISSING)', '$(MISSING)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$one'],
    ['$$$$(A)', '$$(A)'],
    ['$A $[A]', '$A $[A]'],
    ['$(A', '$(A'],
    ['$(A $$', '$(A $'],
    ['$()', '$()'],
    ['end$', 'end$'],
    ['$', '$'],
    ['$$', '$'],
    ['$(x$(A)', '$(x$(A)'],
    ['a$ $(A)', 'a$ one'],
  ];
  for (const [text, want] of cases)
    assert.equal(
      expand(text, (name) => values[name]),
      want,
      text,
    );
});
