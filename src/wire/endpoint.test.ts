import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '../base/errors.ts';
import { parseUnixEndpoint } from './endpoint.ts';

for (const endpoint of ['unix:///run/c.sock', 'unix:/run/c.sock', '/run/c.sock']) {
  test(`accepted: ${endpoint}`, () => assert.equal(parseUnixEndpoint(endpoint), '/run/c.sock'));
}

const refused: readonly [string, RegExp][] = [
  ['', /endpoint ""/],
  ['run/c.sock', /only Unix sockets/],
  ['unix://run/c.sock', /only Unix sockets/],
  ['tcp://127.0.0.1:1', /only Unix sockets/],
  ['npipe:////./pipe/c', /only Unix sockets/],
  ['/run/\0x', /only Unix sockets/],
  [`/${'x'.repeat(107)}`, /108 bytes, a Unix socket's at most 107/],
];

for (const [endpoint, expected] of refused) {
  test(`refused: ${JSON.stringify(endpoint).slice(0, 40)}`, () => {
    assert.throws(
      () => parseUnixEndpoint(endpoint),
      (error) => error instanceof CodedError && error.code === 'invalid' && expected.test(error.message),
    );
  });
}
