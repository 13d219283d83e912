import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentType, directoryPage, parseRange } from './file-page.ts';

test('names of files are escaped, and link to the files', () => {
  const page = directoryPage(['a b.log', '<x>&"', 'c/', 'd:e', 'f?g#h']);
  assert.match(page, /^<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n/);
  assert.ok(page.includes('<a href="a%20b.log">a b.log</a>\n'));
  assert.ok(page.includes('>&lt;x&gt;&amp;&#34;</a>'));
  assert.ok(!page.includes('<x>'));
  assert.ok(page.includes('<a href="c/">c/</a>'));
  assert.ok(page.includes('<a href="./d:e">d:e</a>'));
  assert.ok(page.includes('<a href="f%3Fg%23h">'));
});

test('the content type of a file comes from its name or its first bytes', () => {
  assert.equal(contentType('x.log', Buffer.from('text')), 'text/plain; charset=utf-8');
  assert.equal(contentType('wtmp', Buffer.from([1, 0, 2])), 'application/octet-stream');
  assert.equal(contentType('x.log.gz', Buffer.from([31, 139])), 'application/gzip');
});

for (const [header, size, expected] of [
  [undefined, 10, undefined],
  ['bytes=0-3', 10, { from: 0, to: 4 }],
  ['bytes=5-', 10, { from: 5, to: 10 }],
  ['bytes=-4', 10, { from: 6, to: 10 }],
  ['bytes=-40', 10, { from: 0, to: 10 }],
  ['bytes=2-99', 10, { from: 2, to: 10 }],
  ['bytes=10-', 10, 'none'],
  ['bytes=-1', 0, 'none'],
  ['bytes=3-2', 10, undefined],
  ['bytes=0-1,3-4', 10, undefined],
  ['lines=0-1', 10, undefined],
  ['bytes=-', 10, undefined],
] as const) {
  test(`range ${header} of ${size} bytes`, () => assert.deepEqual(parseRange(header, size), expected));
}
