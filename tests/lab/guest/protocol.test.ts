import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRequest, type Message, parseMessage } from './protocol.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('a request is one line, whatever is in the script', () => {
  const line = formatRequest(7, 2.5, 'echo "ä"\necho b\n');
  assert.equal(line, `7 2.5 ${base64('echo "ä"\necho b\n')}\n`);
});

const cases: readonly [string, Message | undefined][] = [
  ['hello 0d1c-22', { kind: 'hello', boot: '0d1c-22' }],
  [`3 0 ${base64('a b\n')} `, { kind: 'answer', id: 3, result: { code: 0, stdout: 'a b\n', stderr: '' } }],
  ['3 137  ', { kind: 'answer', id: 3, result: { code: 137, stdout: '', stderr: '' } }],
  [`4 timeout  ${base64('ü')}`, { kind: 'timeout', id: 4, stdout: '', stderr: 'ü' }],
  ['', undefined],
  ['hello', undefined],
  ['hello there you', undefined],
  ['3 0', undefined],
  ['3 0 YQ==', undefined],
  ['3 -1  ', undefined],
  ['x 0  ', undefined],
  ['3 0 a*b ', undefined],
  ['QUJD 3 0  ', undefined],
];

for (const [line, message] of cases) {
  test(`reads ${JSON.stringify(line)}`, () => assert.deepEqual(parseMessage(line), message));
}
