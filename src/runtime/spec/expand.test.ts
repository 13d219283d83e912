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
    assert.deepEqual(
      expand(text, (name) => values[name], 1000),
      { ok: true, value: want },
      text,
    );
});

test('no more text than allowed, in bytes', () => {
  const lookup = () => 'ü'.repeat(10);
  assert.deepEqual(expand('$(A)$(A)', lookup, 40), { ok: true, value: 'ü'.repeat(20) });
  assert.deepEqual(expand('$(A)$(A)', lookup, 39), { ok: false, problem: 'is longer than 39 bytes' });
  let asked = 0;
  const count = () => {
    asked += 1;
    return 'x'.repeat(1000);
  };
  assert.equal(expand('$(A)'.repeat(100_000), count, 5000).ok, false);
  assert.ok(asked <= 6, `${asked} values were put in`);
});

test('openers that nothing closes cost no more than other text', () => {
  // Looking for the closer of each would be 20 thousand million steps.
  const text = '$('.repeat(200_000);
  assert.deepEqual(
    expand(text, () => 'x', text.length),
    { ok: true, value: text },
  );
  assert.deepEqual(
    expand(`$(A)${text}`, () => 'x', text.length + 1),
    { ok: true, value: `x${text}` },
  );
});
