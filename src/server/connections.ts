/**
 * The connections of a port, and which ones are closed when there are too many.
 *
 *   unauthenticated ──client certificate, or a request accepted from a user──► authenticated
 *      ▲ └─request accepted as anonymous──► served ─┐
 *      └───────────────answered─────────────────────┘
 *
 * Unauthenticated connections have a low limit, and a lower one for each address; the one that was idle for longest is closed for the next.
 * Those that are authenticated or being served stay, and only the limit of the whole port counts for them.
 */
import type { Socket } from 'node:net';
import { addressGroup } from './rules/address-group.ts';

export interface ConnectionLimits {
  readonly mostConnections: number;
  readonly mostUnauthenticated: number;
  readonly mostUnauthenticatedOfAddress: number;
}

export interface Connections {
  /** False: a limit was reached, and it is closed. */
  admit(socket: Socket): boolean;
  /** The handshake is over: requests will arrive on this socket. */
  secured(socket: Socket, isKnown: boolean): void;
  /** Call what it returns when the request is over. Undefined: too many at once, and the connection is closed. */
  began(socket: Socket, mostBefore?: number): (() => void) | undefined;
  /** The current request of this connection was accepted: from an authenticated user, or as anonymous. */
  letIn(socket: Socket, isKnown: boolean): void;
  isKnown(socket: Socket): boolean;
  /** Also those in their handshake and those that were upgraded, which Node's server does not close. */
  closeAll(): void;
}

/** No client of a kubelet sends a request before it has the answer to the last one, but HTTP/1.1 allows it. */
const MOST_REQUESTS_AT_ONCE = 8;

interface Connection {
  readonly group: string;
  socket: Socket;
  standing: 'unauthenticated' | 'served' | 'authenticated' | 'closed';
  requests: number;
}

export function createConnections(limits: ConnectionLimits, onDrop: (reason: DropReason) => void): Connections {
  const open = new Map<string, Connection>();
  const bySocket = new WeakMap<Socket, Connection>();
  const unauthenticated = createUnauthenticated(limits);

  const move = (connection: Connection, standing: Connection['standing']) => {
    if (connection.standing === standing || connection.standing === 'closed') return;
    if (connection.standing === 'unauthenticated') unauthenticated.remove(connection);
    connection.standing = standing;
    if (standing === 'unauthenticated') unauthenticated.add(connection);
  };
  const remove = (key: string, connection: Connection) => {
    move(connection, 'closed');
    if (open.get(key) === connection) open.delete(key);
  };
  /** Closes one connection to make room for the next one of this group; false: none can be closed. */
  const makeRoom = (group: string): boolean => {
    const full = unauthenticated.fullFor(group) ?? (open.size >= limits.mostConnections ? 'all' : undefined);
    if (full === undefined) return true;
    const closing = unauthenticated.oldestIdle(full === 'address' ? group : undefined);
    if (closing === undefined) return false;
    onDrop(full);
    move(closing, 'closed');
    closing.socket.destroy();
    return true;
  };
  return {
    admit: (socket) => {
      const group = addressGroup(socket.remoteAddress ?? '');
      if (socket.remotePort === undefined || !makeRoom(group)) {
        onDrop('refused');
        socket.destroy();
        return false;
      }
      const key = keyOf(socket);
      const connection: Connection = { group, socket, standing: 'unauthenticated', requests: 0 };
      open.set(key, connection);
      bySocket.set(socket, connection);
      unauthenticated.add(connection);
      socket.once('close', () => remove(key, connection));
      return true;
    },
    secured: (socket, isKnown) => {
      const key = keyOf(socket);
      const connection = open.get(key);
      // It closed in the meantime, and no longer counts.
      if (connection === undefined) return void socket.destroy();
      connection.socket = socket;
      bySocket.set(socket, connection);
      // From now on the raw socket may not emit events any more.
      socket.once('close', () => remove(key, connection));
      if (isKnown) move(connection, 'authenticated');
    },
    began: (socket, mostBefore = MOST_REQUESTS_AT_ONCE - 1) => {
      const connection = bySocket.get(socket);
      if (connection === undefined || connection.requests > mostBefore) {
        socket.destroy();
        return undefined;
      }
      connection.requests += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        connection.requests -= 1;
        if (connection.standing === 'served' && connection.requests === 0) move(connection, 'unauthenticated');
      };
    },
    letIn: (socket, isKnown) => {
      const connection = bySocket.get(socket);
      if (connection !== undefined && connection.standing !== 'authenticated')
        move(connection, isKnown ? 'authenticated' : 'served');
    },
    isKnown: (socket) => bySocket.get(socket)?.standing === 'authenticated',
    closeAll: () => {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
}

/** Unauthenticated connections by address; the first of a set is the oldest. */
function createUnauthenticated(limits: ConnectionLimits) {
  const groups = new Map<string, Set<Connection>>();
  let count = 0;
  const largest = () => {
    let found = new Set<Connection>();
    for (const group of groups.values()) if (group.size > found.size) found = group;
    return found;
  };
  return {
    add: (connection: Connection): void => {
      const group = groups.get(connection.group) ?? new Set();
      groups.set(connection.group, group.add(connection));
      count += 1;
    },
    remove: (connection: Connection): void => {
      const group = groups.get(connection.group);
      group?.delete(connection);
      if (group?.size === 0) groups.delete(connection.group);
      count -= 1;
    },
    /** The limit that one more connection of this address would exceed. */
    fullFor: (group: string): 'address' | 'unauthenticated' | undefined => {
      if ((groups.get(group)?.size ?? 0) >= limits.mostUnauthenticatedOfAddress) return 'address';
      return count >= limits.mostUnauthenticated ? 'unauthenticated' : undefined;
    },
    /** Of this address, or of the one with the most. */
    oldestIdle: (group: string | undefined): Connection | undefined => {
      const candidates = group === undefined ? largest() : (groups.get(group) ?? new Set());
      for (const connection of candidates) if (connection.requests === 0) return connection;
      return undefined;
    },
  };
}

/** Which limit was reached; `refused`: the new connection was closed, since every other one was busy or authenticated. */
export type DropReason = 'address' | 'unauthenticated' | 'all' | 'refused';

/** The raw socket and the one with TLS on top are the same connection. */
const keyOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;
