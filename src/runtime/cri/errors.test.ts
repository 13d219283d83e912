import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError, codeOf } from '../../base/errors.ts';
import { grpcError } from '../../wire/grpc-status.ts';
import { refineRuntimeError } from './errors.ts';

const cases: readonly [number, string, string][] = [
  [2, 'server is not initialized yet', 'unavailable'],
  [2, 'failed to pull and unpack image "a": write /var/lib/x: no space left on device', 'exhausted'],
  [2, 'failed to create containerd task: exec: "/no/such/thing": stat /no/such/thing', 'internal'],
  [5, 'no space left on device', 'notFound'],
];

for (const [status, text, code] of cases) {
  test(`status ${status}, ${text}: ${code}`, () => {
    const refined = refineRuntimeError(grpcError('/s/m', status, text));
    assert.equal(codeOf(refined), code);
    assert.ok(refined instanceof CodedError && refined.message.endsWith(text));
    assert.equal(refined.data['grpcMessage'], text);
  });
}

test('other errors pass', () => {
  const error = new Error('server is not initialized yet');
  assert.equal(refineRuntimeError(error), error);
});
