import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CodedError, type ErrorCode } from '../base/errors.ts';
import { decodeGrpcMessage, encodeGrpcMessage, grpcError, statusOf } from './grpc-status.ts';

const statuses: readonly [number, ErrorCode, string][] = [
  [1, 'unavailable', 'Canceled'],
  [2, 'internal', 'Unknown'],
  [3, 'invalid', 'InvalidArgument'],
  [4, 'deadline', 'DeadlineExceeded'],
  [5, 'notFound', 'NotFound'],
  [6, 'exists', 'AlreadyExists'],
  [7, 'denied', 'PermissionDenied'],
  [8, 'exhausted', 'ResourceExhausted'],
  [9, 'conflict', 'FailedPrecondition'],
  [12, 'unsupported', 'Unimplemented'],
  [14, 'unavailable', 'Unavailable'],
  [16, 'unauthenticated', 'Unauthenticated'],
  [99, 'internal', 'Code(99)'],
];

for (const [status, code, name] of statuses) {
  test(`status ${status} is ${code}, and goes out again as it came`, () => {
    const error = grpcError('/s/m', status, 'why');
    assert.equal(error.code, code);
    assert.equal(error.message, `rpc error: code = ${name} desc = why`);
    assert.deepEqual(statusOf(error), { status, message: 'why' });
  });
}

test('errors of our own get the nearest status', () => {
  assert.deepEqual(statusOf(new CodedError('notFound', 'no pod')), { status: 5, message: 'no pod' });
  assert.deepEqual(statusOf(new Error('bug')), { status: 2, message: 'bug' });
  assert.deepEqual(statusOf('thrown text'), { status: 2, message: 'thrown text' });
});

const decoded: readonly [string, string][] = [
  ['plain', 'plain'],
  ['100%25', '100%'],
  ['a%0Ab', 'a\nb'],
  ['gr%C3%BC%C3%9Fe', 'grüße'],
  ['broken %', 'broken %'],
  ['broken %zz', 'broken %zz'],
  ['half a character %C3', 'half a character \ufffd'],
];

for (const [wire, text] of decoded) test(`grpc-message ${wire}`, () => assert.equal(decodeGrpcMessage(wire), text));

test('any text survives grpc-message, as printable ASCII', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const wire = encodeGrpcMessage(text);
      assert.match(wire, /^[ -~]*$/);
      assert.equal(decodeGrpcMessage(wire), text);
    }),
  );
});
