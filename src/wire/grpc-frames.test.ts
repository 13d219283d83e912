import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CodedError, codeOf } from '../base/errors.ts';
import { FrameReader, frame } from './grpc-frames.ts';

test('messages come out as they went in, however the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), fc.array(fc.nat(20)), (messages, cuts) => {
      const stream = Buffer.concat(messages.map(frame));
      const seen: string[] = [];
      const reader = new FrameReader('test', 100, (message) => seen.push(message.toString('hex')));
      let at = 0;
      for (const size of [...cuts, stream.length]) {
        reader.push(stream.subarray(at, at + size));
        at = Math.min(at + size, stream.length);
      }
      reader.end();
      assert.deepEqual(
        seen,
        messages.map((message) => Buffer.from(message).toString('hex')),
      );
    }),
  );
});

const refused: readonly [string, Buffer, string, RegExp][] = [
  ['a message that is too large', frame(Buffer.alloc(11)), 'exhausted', /message of 11 bytes, at most 10/],
  ['a length of 4 GiB', Buffer.from('00ffffffff', 'hex'), 'exhausted', /4294967295 bytes/],
  ['a compressed message', Buffer.from('0100000000', 'hex'), 'unsupported', /compressed/],
];

for (const [name, bytes, code, expected] of refused) {
  test(`refused: ${name}`, () => {
    const reader = new FrameReader('/s/m', 10, () => assert.fail('a message came out'));
    assert.throws(
      () => reader.push(bytes),
      (error) => error instanceof CodedError && error.code === code && expected.test(error.message),
    );
  });
}

test('the end within a message is an error', () => {
  const reader = new FrameReader('/s/m', 10, () => assert.fail('a message came out'));
  reader.push(Buffer.from('0000', 'hex'));
  assert.throws(
    () => reader.end(),
    (error) => codeOf(error) === 'invalid' && /2 bytes of 5/.test(String(error)),
  );
});

test('many small chunks of one large message cost linear time', () => {
  const size = 8_000_000;
  const stream = frame(Buffer.alloc(size));
  let length = 0;
  const reader = new FrameReader('test', size, (message) => {
    length = message.length;
  });
  const before = process.cpuUsage();
  for (let at = 0; at < stream.length; at += 4000) reader.push(stream.subarray(at, at + 4000));
  assert.equal(length, size);
  // Joining for each of the 2000 chunks would copy 8 GB. The processor's time, of which a busy machine does not take more.
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 1_500_000, `${user + system} µs`);
});
