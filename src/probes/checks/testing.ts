/** Servers on loopback for the tests of the checks. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export const never = new AbortController().signal;

interface Listening {
  listen(port: number, host: string, listening: () => void): unknown;
  address(): AddressInfo | string | null;
  close(): unknown;
}

/** Starts any kind of server and answers its port; ends it with the test. */
export async function serve(t: TestContext, server: Listening, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, host, resolve));
  t.after(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** A TCP server that does this with each connection. */
export function serveTcp(t: TestContext, onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  return serve(t, server);
}

/** Answers any first bytes with this text and closes. */
export const answering = (text: string) => (socket: Socket) => {
  socket.once('data', () => socket.end(text));
};

/** A port on which no one listens. */
export async function closedPort(t: TestContext): Promise<number> {
  const server = createServer();
  const port = await serve(t, server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
