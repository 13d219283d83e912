/** The sockets of an HTTP/1.1 link: the first is given, more are opened while calls need them, some are kept for the next calls. */
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

export interface SocketPool {
  readonly agent: Agent;
  /** Bytes received on all sockets, also on those that are closed. */
  received(): number;
  destroy(): void;
}

const IDLE_SOCKETS = 4;

export function createSocketPool(first: Socket, openSocket: () => Promise<Socket>): SocketPool {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_SOCKETS });
  const sockets = new Set<Socket>();
  let unused: Socket | undefined = first;
  let receivedBefore = 0;

  const adopt = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      receivedBefore += socket.bytesRead;
      if (unused === socket) unused = undefined;
    });
    return socket;
  };
  // An idle socket that breaks is no call's error.
  adopt(first).on('error', () => undefined);
  agent.createConnection = (_options, done) => {
    const given = unused;
    unused = undefined;
    if (given !== undefined && !given.destroyed) return given;
    openSocket().then(
      (socket) => done?.(null, adopt(socket)),
      (error: Error) => done?.(error, new Duplex()), // the agent ignores the stream beside an error
    );
    return undefined;
  };
  return {
    agent,
    received: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, receivedBefore),
    destroy: () => {
      agent.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}
