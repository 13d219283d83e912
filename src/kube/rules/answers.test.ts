import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseRetryAfter, refusalError } from './answers.ts';

describe('an answer of the API server', () => {
  const codes: readonly [number, string, string][] = [
    [400, 'BadRequest', 'invalid'],
    [401, 'Unauthorized', 'unauthenticated'],
    [403, 'Forbidden', 'denied'],
    [404, 'NotFound', 'notFound'],
    [405, 'MethodNotAllowed', 'invalid'],
    [408, 'Timeout', 'unavailable'],
    [409, 'Conflict', 'conflict'],
    [409, 'AlreadyExists', 'exists'],
    [410, 'Expired', 'gone'],
    [413, 'RequestEntityTooLarge', 'invalid'],
    [415, 'UnsupportedMediaType', 'invalid'],
    [422, 'Invalid', 'invalid'],
    [429, 'TooManyRequests', 'unavailable'],
    [500, 'InternalError', 'unavailable'],
    [502, '', 'unavailable'],
    [503, 'ServiceUnavailable', 'unavailable'],
    [504, 'Timeout', 'unavailable'],
    [302, '', 'unavailable'],
  ];
  for (const [httpStatus, reason, code] of codes) {
    test(`${httpStatus} ${reason} means ${code}`, () => {
      const status = { kind: 'Status', reason, message: 'because' };
      const error = refusalError({ what: 'GET /x', httpStatus, body: JSON.stringify(status), retryAfterMs: 5 });
      assert.equal(error.code, code);
      assert.equal(error.message, `GET /x: ${httpStatus}: because`);
      assert.deepEqual(error.data, { httpStatus, status, retryAfterMs: 5 });
    });
  }

  test('may be the page of a proxy', () => {
    const error = refusalError({
      what: 'GET /x',
      httpStatus: 502,
      body: `<h1>${'x'.repeat(999)}`,
      retryAfterMs: undefined,
    });
    assert.equal(error.message, `GET /x: 502: <h1>${'x'.repeat(296)}`);
    assert.deepEqual(error.data, { httpStatus: 502 });
  });

  test('may be empty', () => {
    const error = refusalError({ what: 'GET /x', httpStatus: 500, body: '', retryAfterMs: undefined });
    assert.equal(error.message, 'GET /x: 500');
  });

  const waits: readonly [string | undefined, number | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['0', 0],
    ['7', 7000],
    ['-1', undefined],
    ['1.5', undefined],
    ['9999999', undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  ];
  for (const [header, ms] of waits) {
    test(`Retry-After ${JSON.stringify(header)} is ${ms} ms`, () => assert.equal(parseRetryAfter(header), ms));
  }
});
