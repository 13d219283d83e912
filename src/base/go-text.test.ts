import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeJson, quoteText } from './go-text.ts';

test('quoteText escapes what %q escapes', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['plain', '"plain"'],
    ['say "hi" \\ twice', '"say \\"hi\\" \\\\ twice"'],
    ['tab\tline\nbell\x07', '"tab\\tline\\nbell\\a"'],
    ['nul\x00del\x7f', '"nul\\x00del\\x7f"'],
    ['grüße', '"grüße"'],
    ['no-break\u00a0space', '"no-break\\u00a0space"'],
    ['tag\u{e0001}', '"tag\\U000e0001"'],
  ];
  for (const [text, quoted] of cases) assert.equal(quoteText(text), quoted);
});

test('escapeJson escapes for HTML and JavaScript as the Go encoder does', () => {
  assert.equal(escapeJson(JSON.stringify('a<b>c&d\u2028')), '"a\\u003cb\\u003ec\\u0026d\\u2028"');
});
