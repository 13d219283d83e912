import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createAuthorityFilter } from './authority.ts';
import { encode } from './encode.ts';
import { Empty, RegisterRequest, Registration } from './gen/device-plugin-v1beta1.ts';
import { frame } from './grpc-frames.ts';
import { unaryHandler } from './grpc-server.ts';
import { serve, socketPath } from './grpc-testing.ts';

test('clients that name the path of the socket as their authority are served, again and again', async (t) => {
  const path = await socketPath(t);
  const seen: string[] = [];
  const handler = unaryHandler(Registration.register, ({ resourceName }) => {
    seen.push(resourceName);
    return {};
  });
  await serve(t, path, handler);
  const session = connectHttp2('http://localhost', { createConnection: () => connect(path) });
  t.after(() => session.destroy());
  for (const resourceName of ['a/a', 'b/b', 'c/c']) {
    const stream = session.request({
      ':method': 'POST',
      ':path': Registration.register.path,
      ':authority': '/var/lib/kubelet/device-plugins/kubelet.sock',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.end(frame(encode(RegisterRequest, { resourceName })));
    const trailers = once(stream, 'trailers');
    stream.resume();
    assert.equal((await trailers)[0]['grpc-status'], '0');
  }
  assert.deepEqual(seen, ['a/a', 'b/b', 'c/c']);
  assert.equal(encode(Empty, {}).length, 0);
});

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

function headers(block: readonly number[], flags = 0x4): Buffer {
  const head = Buffer.from([0, 0, block.length, 1, flags, 0, 0, 0, 1]);
  return Buffer.concat([head, Buffer.from(block)]);
}

function filter(bytes: Buffer, size: number): Buffer {
  const replace = createAuthorityFilter();
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) out.push(...replace(bytes.subarray(at, at + size)));
  return Buffer.concat(out);
}

test('only the authority is replaced, however the bytes arrive', () => {
  const settings = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 16, 0, 0]);
  const text = (value: string) => [value.length, ...Buffer.from(value, 'latin1')];
  const before = [0x83, 0x44, ...text('/p'), 0x20];
  const after = [0x40, ...text('te'), ...text('trailers'), 0x0f, 0x10, ...text('x')];
  const given = Buffer.concat([PREFACE, settings, headers([...before, 0x41, ...text('/a/b'), ...after]), settings]);
  const expected = Buffer.concat([
    PREFACE,
    settings,
    headers([...before, 0x41, ...text('localhost'), ...after]),
    settings,
  ]);
  for (const size of [1, 2, 7, 24, 33, given.length])
    assert.deepEqual(filter(given, size), expected, `in parts of ${size}`);
});

test('what is no header block passes as it is', () => {
  for (const block of [[], [0x41], [0x41, 0x05, 0x2f], [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff], [0x00, 0xff]]) {
    const given = Buffer.concat([PREFACE, headers(block)]);
    assert.deepEqual(filter(given, 5), given);
  }
});
