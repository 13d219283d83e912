/** For tests: routes that succeed or fail in each possible way, and clients that write raw bytes. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { CodedError } from '../base/errors.ts';
import { readBody } from './body.ts';
import { type Exchange, jsonAnswer, notFound, PROXY, PROXY_STREAM, type Route, textAnswer } from './routes.ts';
import type { TestPki } from './testing.ts';

/** The last request to `/hang`. */
export const hanging: { exchange: Exchange | undefined } = { exchange: undefined };

const page = (pattern: string, handle: Route['handle'], more: Partial<Route> = {}): Route => ({
  name: pattern.split('/')[1] ?? '',
  methods: ['GET', 'POST'],
  pattern,
  access: PROXY,
  port: 'secure',
  switch: 'debugging',
  handle,
  ...more,
});

export const ROUTES: readonly Route[] = [
  page('/pods', ({ answer }) => answer(jsonAnswer({ kind: 'PodList' })), { port: 'both', switch: 'always' }),
  page('/echo/{a}/{b}', ({ answer, parameters, query, user }) =>
    answer(jsonAnswer({ parameters, all: query.getAll('q'), user })),
  ),
  page('/throws', () => {
    throw new Error('broken inside');
  }),
  page('/missing', () => Promise.reject(new CodedError('notFound', 'pod "x" is not here'))),
  page('/status', ({ answer }) => answer(notFound('pod does not exist', { name: 'x', kind: 'pods' }))),
  page('/half', ({ response }) => {
    response.writeHead(200);
    response.write('half');
    throw new Error('then it broke');
  }),
  page('/body', async ({ request, answer }) => answer(textAnswer(200, await readBody(request, 10)))),
  page('/hang', (exchange) => {
    hanging.exchange = exchange;
    return new Promise(() => undefined);
  }),
  page('/exec/{pod}', ({ answer }) => answer(textAnswer(400, 'Upgrade request required')), {
    access: PROXY_STREAM,
    audited: true,
    longQuery: true,
    upgrade: ({ socket, head, answer, parameters }) => {
      if (parameters['pod'] === 'none') return answer(notFound('pod does not exist'));
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
      if (parameters['pod'] === 'late') return answerLate(socket, head);
      socket.write(head);
      socket.pipe(socket);
    },
  }),
  page('/profile', ({ answer }) => answer(textAnswer(200, 'profile')), { switch: 'profiling' }),
];

/** Echoes the input of the client after the client has ended its side. */
function answerLate(socket: Socket, head: Buffer): void {
  let text = head.toString();
  socket.on('data', (part: Buffer) => {
    text += part.toString();
  });
  socket.on('end', () => setImmediate(() => socket.end(`you said ${text}`)));
}

export function open(pki: TestPki, port: number, more: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca: pki.ca, ...pki.clients.admin, ...more }, () =>
      resolve(socket),
    );
    socket.once('error', reject);
  });
}

/** Sends raw bytes; resolves with all output until the other side ends. */
export async function raw(pki: TestPki, port: number, bytes: string): Promise<string> {
  const socket = await open(pki, port);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  // A server that refuses what it has not read to its end resets the connection: what it has answered counts.
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  socket.write(bytes);
  await closed;
  return text;
}

export const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
