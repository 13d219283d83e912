import assert from 'node:assert/strict';
import type { ServerHttp2Stream } from 'node:http2';
import { test } from 'node:test';
import { encode } from './encode.ts';
import { RuntimeService, VersionResponse } from './gen/cri-runtime-v1.ts';
import { frame } from './grpc-frames.ts';
import { clientOf, coded, never, serveRaw, socketPath, withTrailers } from './grpc-testing.ts';

const { version } = RuntimeService;

const good = frame(encode(VersionResponse, { version: '1' }));
const strange: readonly [string, (stream: ServerHttp2Stream) => void, string, RegExp][] = [
  [
    'an HTML page',
    (stream) => {
      stream.respond({ ':status': 404, 'content-type': 'text/html' });
      stream.end('<p>not here');
    },
    'internal',
    /not a gRPC answer \(HTTP status 404, content type "text\/html"\)/,
  ],
  [
    'no message',
    (stream) => withTrailers(stream, Buffer.alloc(0), { 'grpc-status': '0' }),
    'internal',
    /0 answers instead of one/,
  ],
  [
    'two messages',
    (stream) => withTrailers(stream, Buffer.concat([good, good]), { 'grpc-status': '0' }),
    'internal',
    /2 answers/,
  ],
  [
    'half a message',
    (stream) => withTrailers(stream, good.subarray(0, 6), { 'grpc-status': '0' }),
    'invalid',
    /within a message/,
  ],
  [
    'a malformed message',
    (stream) => withTrailers(stream, frame(Buffer.from([0x0a])), { 'grpc-status': '0' }),
    'invalid',
    /cut off/,
  ],
  ['no status', (stream) => withTrailers(stream, good, { other: '1' }), 'internal', /Unknown/],
  ['a status that is no number', (stream) => withTrailers(stream, good, { 'grpc-status': 'x' }), 'internal', /Unknown/],
  [
    'a message that is too large',
    (stream) => withTrailers(stream, frame(Buffer.alloc(1001)), { 'grpc-status': '0' }),
    'exhausted',
    /1001/,
  ],
  [
    'an error without text',
    (stream) =>
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '14' }, { endStream: true }),
    'unavailable',
    /desc = $/,
  ],
  ['a refusal, again and again', (stream) => stream.close(7), 'unavailable', /lost/],
  ['a reset', (stream) => stream.close(2), 'unavailable', /lost/],
  ['a connection cut in the middle', (stream) => stream.session?.destroy(), 'unavailable', /lost/],
];

for (const [name, answer, code, text] of strange) {
  test(`strange answer: ${name}`, async (t) => {
    const path = await socketPath(t);
    await serveRaw(t, path, answer);
    const client = clientOf(t, path, { maxMessageBytes: 1000 });
    await assert.rejects(client.unary(version, {}, { signal: never, deadline: 5000 }), coded(code, text));
  });
}
