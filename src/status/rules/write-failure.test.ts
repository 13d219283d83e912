import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CodedError } from '../../base/errors.ts';
import { isOlder } from './resource-version.ts';
import { judgeFailure } from './write-failure.ts';

const answered = { data: { httpStatus: 500 } };

describe('a write that failed', () => {
  const cases: readonly [string, unknown, ReturnType<typeof judgeFailure>][] = [
    ['no such pod', new CodedError('notFound', 'x', { data: { httpStatus: 404 } }), 'replaced'],
    ['another pod by now, or written at the same time', new CodedError('conflict', 'x', answered), 'busy'],
    ['no connection', new CodedError('unavailable', 'x'), 'away'],
    ['no answer in time', new CodedError('deadline', 'x'), 'away'],
    ['an answer of 500', new CodedError('unavailable', 'x', answered), 'busy'],
    ['an answer of 504', new CodedError('deadline', 'x', answered), 'busy'],
    ['forbidden', new CodedError('denied', 'x', answered), 'refused'],
    ['invalid', new CodedError('invalid', 'x', answered), 'refused'],
    ['wrapped', new Error('y', { cause: new CodedError('notFound', 'x') }), 'replaced'],
    ['an error of the program', new TypeError('x'), 'refused'],
  ];
  for (const [name, error, verdict] of cases) test(name, () => assert.equal(judgeFailure(error), verdict));
});

describe('versions of an object', () => {
  const cases: readonly [string | undefined, string | undefined, boolean][] = [
    ['9', '10', true],
    ['10', '9', false],
    ['10', '10', false],
    ['99', '100', true],
    ['12345678901234567890', '12345678901234567891', true],
    [undefined, '1', false],
    ['1', undefined, false],
  ];
  for (const [left, right, older] of cases) {
    test(`${left} is ${older ? '' : 'not '}older than ${right}`, () => assert.equal(isOlder(left, right), older));
  }
});
