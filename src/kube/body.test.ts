import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { codeOf } from '../base/errors.ts';
import type { HttpReply } from '../wire/http-reply.ts';
import { readLines, readText } from './body.ts';

const { signal } = new AbortController();

function replyOf(body: Readable): HttpReply & { readonly canceled: () => boolean } {
  let canceled = false;
  const cancel = () => {
    canceled = true;
    body.destroy();
  };
  return { httpStatus: 200, header: () => undefined, body, cancel, canceled: () => canceled };
}

const chunks = (...texts: readonly string[]) => Readable.from(texts.map((text) => Buffer.from(text)));

async function linesOf(body: Readable, mostBytes = 100): Promise<readonly string[]> {
  const found: string[] = [];
  await readLines(replyOf(body), { mostBytes, signal }, (line) => found.push(line));
  return found;
}

describe('the lines of an answer', () => {
  const cases: readonly [readonly string[], readonly string[]][] = [
    [['a\nb\n'], ['a', 'b']],
    [
      ['a', '\n', 'b', '\n'],
      ['a', 'b'],
    ],
    [['a\n\n\nb\n'], ['a', 'b']],
    [['a\nb'], ['a']],
    [['one ', 'line ', 'in pieces\nand'], ['one line in pieces']],
    [[], []],
  ];
  for (const [given, want] of cases) {
    test(`${JSON.stringify(given)}`, async () => assert.deepEqual(await linesOf(chunks(...given)), want));
  }

  test('have no limit in number, but none may be longer than the limit', async () => {
    assert.equal(
      (await linesOf(chunks(...Array.from({ length: 100 }, () => 'x'.repeat(99).concat('\n'))))).length,
      100,
    );
    await assert.rejects(linesOf(chunks('a\n', 'x'.repeat(60), 'x'.repeat(60))), /longer than 100 bytes/);
  });

  test('stop with the error that the receiver throws', async () => {
    const reply = replyOf(chunks('a\nb\n'));
    const taken: string[] = [];
    const reading = readLines(reply, { mostBytes: 100, signal }, (line) => {
      taken.push(line);
      throw new Error('no more');
    });
    await assert.rejects(reading, /no more/);
    assert.deepEqual(taken, ['a']);
    assert.ok(reply.canceled());
  });
});

describe('a whole answer', () => {
  test('is joined from its chunks', async () =>
    assert.equal(await readText(replyOf(chunks('a', 'b', 'c')), { mostBytes: 3, signal }), 'abc'));

  test('fails when it is too long', async () => {
    const reply = replyOf(chunks('a', 'b', 'c', 'd'));
    await assert.rejects(readText(reply, { mostBytes: 3, signal }), (error) => codeOf(error) === 'unavailable');
    assert.ok(reply.canceled());
  });

  test('that broke off before it was read fails at once', async () => {
    const body = new PassThrough();
    const closed = new Promise((resolve) => body.once('close', resolve));
    body.destroy();
    await closed;
    await assert.rejects(readText(replyOf(body), { mostBytes: 3, signal }), /cut off/);
  });

  test('ends with the signal', async () => {
    const own = new AbortController();
    const reply = replyOf(new PassThrough());
    const reading = readText(reply, { mostBytes: 3, signal: own.signal });
    own.abort('enough');
    await assert.rejects(reading, (error) => error === 'enough');
    assert.ok(reply.canceled());
  });
});
