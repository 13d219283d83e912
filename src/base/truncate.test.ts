import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { truncateUtf8 } from './truncate.ts';

const ROWS: readonly (readonly [string, number, string, string])[] = [
  ['short', 5, '...', 'short'],
  ['longer', 5, '...', 'lo...'],
  ['longer', 5, '', 'longe'],
  ['ääää', 8, '...', 'ääää'],
  ['äääää', 8, '...', 'ää...'],
  ['a😀b', 4, '', 'a'],
  ['a😀b', 5, '', 'a😀'],
];
for (const [text, bytes, mark, expected] of ROWS) {
  test(`${bytes} bytes of ${text} with "${mark}"`, () => assert.equal(truncateUtf8(text, bytes, mark), expected));
}

test('never more than the bound, never half a character, whole where it fits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 3, max: 40 }), (text, bytes) => {
      const cut = truncateUtf8(text, bytes, '...');
      assert.ok(Buffer.byteLength(cut) <= bytes);
      assert.ok(cut.isWellFormed() || !text.isWellFormed());
      if (Buffer.byteLength(text) <= bytes) assert.equal(cut, text);
      else assert.ok(cut.endsWith('...') && text.startsWith(cut.slice(0, -3)));
    }),
  );
});
