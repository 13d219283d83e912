import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFaultChooser, userOf } from '../registry-faults.ts';

test('the first fault that matches its stage and is not used up hits a request', () => {
  const chooser = createFaultChooser([
    { match: 'GET /v2/a/blobs/', times: 1, does: { kind: 'cut', afterBytes: 10 } },
    { match: '/v2/a/', times: 2, does: { kind: 'status', status: 503 } },
    { match: 'blobs', does: { kind: 'slow', bytesPerSecond: 5 } },
  ]);
  const next = (stage: 'request' | 'body', method: string, path: string) => chooser.next(stage, method, path)?.kind;
  assert.equal(next('request', 'GET', '/v2/b/manifests/1'), undefined);
  assert.equal(next('request', 'GET', '/v2/a/blobs/x'), 'status');
  assert.equal(next('body', 'HEAD', '/v2/a/blobs/x'), 'slow');
  assert.equal(next('body', 'GET', '/v2/a/blobs/x'), 'cut');
  assert.equal(next('body', 'GET', '/v2/a/blobs/x'), 'slow');
  assert.equal(next('request', 'GET', '/v2/a/blobs/x'), 'status');
  assert.equal(next('request', 'GET', '/v2/a/blobs/x'), undefined);
});

for (const [header, user] of [
  [undefined, undefined],
  ['', undefined],
  ['Bearer abc', undefined],
  ['Basic', undefined],
  [`Basic ${Buffer.from('lab:se:cret').toString('base64')}`, 'lab'],
  [`Basic ${Buffer.from('alone').toString('base64')}`, 'alone'],
] as const) {
  test(`the user of ${header}`, () => assert.equal(userOf(header), user));
}
