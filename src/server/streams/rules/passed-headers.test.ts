import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasBody, passedHeaders } from './passed-headers.ts';

const FIRST = ['Host', '127.0.0.1:4000', 'Content-Length', '0'];
const to = { host: '127.0.0.1:4000', client: '192.0.2.1' };

test('the headers of the protocol are passed on unchanged, also repeated ones', () => {
  const raw = ['Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1', 'X-Stream-Protocol-Version', 'v4.channel.k8s.io'];
  const more = ['X-Stream-Protocol-Version', 'channel.k8s.io'];
  assert.deepEqual(passedHeaders([...raw, ...more], to), [
    ...FIRST,
    ...raw,
    ...more,
    ...['X-Forwarded-For', '192.0.2.1'],
  ]);
});

test('credentials and the address of this server are not passed on', () => {
  const raw = ['HOST', 'node:10250', 'authorization', 'Bearer x', 'Cookie', 'a=b', 'Impersonate-User', 'root'];
  assert.deepEqual(passedHeaders([...raw, 'Content-Length', '0'], to), [...FIRST, 'X-Forwarded-For', '192.0.2.1']);
});

for (const [protocols, expected] of [
  [
    'base64url.bearer.authorization.k8s.io.czNjcmV0, v4.channel.k8s.io',
    ['Sec-WebSocket-Protocol', 'v4.channel.k8s.io'],
  ],
  ['v4.channel.k8s.io,BASE64url.bearer.authorization.k8s.io.czNjcmV0', ['Sec-WebSocket-Protocol', 'v4.channel.k8s.io']],
  ['v5.channel.k8s.io, v4.channel.k8s.io', ['Sec-WebSocket-Protocol', 'v5.channel.k8s.io, v4.channel.k8s.io']],
  ['base64url.bearer.authorization.k8s.io.czNjcmV0', []],
] as const) {
  test(`no token is passed on with the sub-protocols ${protocols}`, () =>
    assert.deepEqual(passedHeaders(['Sec-WebSocket-Protocol', protocols], to).slice(4, -2), expected));
}

test('headers that no protocol needs are not passed on', () => {
  const raw = ['X-Api-Key', 's3cret', 'X-Remote-User', 'root', 'X-Client-Cert', 's3cret', 'X-Auth-Token', 's3cret'];
  assert.deepEqual(passedHeaders(raw, to), [...FIRST, 'X-Forwarded-For', '192.0.2.1']);
});

test('the forwarding headers of a request are kept', () => {
  assert.deepEqual(passedHeaders(['X-Forwarded-For', '198.51.100.1'], to).slice(4), [
    'X-Forwarded-For',
    '198.51.100.1, 192.0.2.1',
  ]);
});

for (const [headers, expected] of [
  [{}, false],
  [{ 'content-length': '0' }, false],
  [{ 'content-length': '5' }, true],
  [{ 'content-length': '00' }, true],
  [{ 'transfer-encoding': 'chunked' }, true],
] as const) {
  test(`a body by ${JSON.stringify(headers)}`, () => assert.equal(hasBody(headers), expected));
}
