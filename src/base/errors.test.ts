import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError, codeOf, describeError } from './errors.ts';

test('the code is found through causes', () => {
  const born = new CodedError('notFound', 'no such image');
  assert.equal(codeOf(new Error('cannot start', { cause: born })), 'notFound');
  assert.equal(codeOf(new Error('who knows')), 'internal');
  assert.equal(codeOf('text'), 'internal');
});

test('an error is described in one line with its causes', () => {
  const error = new Error('cannot start', { cause: new Error('no such image', { cause: 'registry away' }) });
  assert.equal(describeError(error), 'cannot start: no such image: registry away');
});
