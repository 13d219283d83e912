import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrefix, endsLine, readPrefix } from './record-prefix.ts';

const STAMP = '2016-10-06T00:17:09.669794202Z';

function read(text: string) {
  const prefix = createPrefix();
  const bytes = Buffer.from(text);
  if (!readPrefix(bytes, 0, bytes.length, prefix)) return undefined;
  return { ...prefix, text: text.slice(prefix.text), stampEnd: text.slice(0, prefix.stampEnd) };
}

const complete = { stampEnd: STAMP, text: 'hello', isStdout: true, isPartial: false };

for (const [title, given, expected] of [
  ['a complete line', `${STAMP} stdout F hello`, complete],
  ['the other stream', `${STAMP} stderr F hello`, { ...complete, isStdout: false }],
  ['a line that goes on in the next record', `${STAMP} stdout P hello`, { ...complete, isPartial: true }],
  ['several tags', `${STAMP} stdout P:x:y hello`, { ...complete, isPartial: true }],
  ['a tag that only begins with P', `${STAMP} stdout Px hello`, complete],
  ['an empty line', `${STAMP} stdout F `, { ...complete, text: '' }],
  ['no tag', `${STAMP} stdout`, undefined],
  ['an unknown stream', `${STAMP} stdin  F hello`, undefined],
  ['no timestamp', 'something that no runtime has written here', undefined],
  ['a record that ends before its tag', `${STAMP} stdout\nF hello`, undefined],
  ['a prefix that is too long', `${STAMP} stdout F${':x'.repeat(200)} hello`, undefined],
] as const) {
  test(`the prefix of a log record: ${title}`, () => assert.deepEqual(read(given), expected));
}

test('a line ends with a record that can be read and is not partial', () => {
  const ends = (text: string) => endsLine(Buffer.from(text), 0, text.length);
  assert.equal(ends(`${STAMP} stdout F hello`), true);
  assert.equal(ends(`${STAMP} stdout P hello`), false);
  assert.equal(ends('hello'), false);
});
