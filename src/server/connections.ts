/**
 * The connections of a port, and who gives way when there are too many.
 *
 *   stranger ──client certificate, or a request let in as a user──► known
 *      ▲ └─request let in as anonymous──► served ─┐
 *      └──────────────answered──────────────────┘
 *
 * Strangers have few places, fewer for each address, and the one that was idle for longest gives way to the next. Who is known or is
 * being served keeps the place, and only the limit of the whole port counts.
 */
import type { Socket } from 'node:net';
import { addressGroup } from './rules/address-group.ts';

export interface ConnectionLimits {
  readonly mostConnections: number;
  readonly mostStrangers: number;
  readonly mostStrangersOfAddress: number;
}

export interface Connections {
  /** False: there was no room for it, and it is closed. */
  admit(socket: Socket): boolean;
  /** The handshake is over: this is the socket that requests will come on. */
  secured(socket: Socket, isKnown: boolean): void;
  /** Call what it returns when the request is over. Undefined: too many at once, and the connection is closed. */
  began(socket: Socket, mostBefore?: number): (() => void) | undefined;
  /** The request that this connection is at was let in; as a user who is known, or as anyone. */
  letIn(socket: Socket, isKnown: boolean): void;
  isKnown(socket: Socket): boolean;
  /** Also those that are at their handshake or were upgraded, which Node's server does not close. */
  closeAll(): void;
}

/** No client of a kubelet sends a request before it has the answer to the last one, but HTTP/1.1 allows it. */
const MOST_REQUESTS_AT_ONCE = 8;

interface Connection {
  readonly group: string;
  socket: Socket;
  standing: 'stranger' | 'served' | 'known' | 'closed';
  requests: number;
}

export function createConnections(limits: ConnectionLimits, onDrop: (reason: DropReason) => void): Connections {
  const open = new Map<string, Connection>();
  const bySocket = new WeakMap<Socket, Connection>();
  const strangers = createStrangers(limits);

  const move = (connection: Connection, standing: Connection['standing']) => {
    if (connection.standing === standing || connection.standing === 'closed') return;
    if (connection.standing === 'stranger') strangers.remove(connection);
    connection.standing = standing;
    if (standing === 'stranger') strangers.add(connection);
  };
  const remove = (key: string, connection: Connection) => {
    move(connection, 'closed');
    if (open.get(key) === connection) open.delete(key);
  };
  /** Closes one that has to give way for the next one of this group; false: there is none that can. */
  const makeRoom = (group: string): boolean => {
    const full = strangers.fullFor(group) ?? (open.size >= limits.mostConnections ? 'all' : undefined);
    if (full === undefined) return true;
    const leaving = strangers.oldestIdle(full === 'address' ? group : undefined);
    if (leaving === undefined) return false;
    onDrop(full);
    move(leaving, 'closed');
    leaving.socket.destroy();
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
      const connection: Connection = { group, socket, standing: 'stranger', requests: 0 };
      open.set(key, connection);
      bySocket.set(socket, connection);
      strangers.add(connection);
      socket.once('close', () => remove(key, connection));
      return true;
    },
    secured: (socket, isKnown) => {
      const key = keyOf(socket);
      const connection = open.get(key);
      // It closed before this could be seen, and took its place with it.
      if (connection === undefined) return void socket.destroy();
      connection.socket = socket;
      bySocket.set(socket, connection);
      // From now on the raw socket may not be heard of any more.
      socket.once('close', () => remove(key, connection));
      if (isKnown) move(connection, 'known');
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
        if (connection.standing === 'served' && connection.requests === 0) move(connection, 'stranger');
      };
    },
    letIn: (socket, isKnown) => {
      const connection = bySocket.get(socket);
      if (connection !== undefined && connection.standing !== 'known') move(connection, isKnown ? 'known' : 'served');
    },
    isKnown: (socket) => bySocket.get(socket)?.standing === 'known',
    closeAll: () => {
      for (const { socket } of open.values()) socket.destroy();
    },
  };
}

/** Those that no one has authenticated on, by address; the first of a set has waited longest. */
function createStrangers(limits: ConnectionLimits) {
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
    /** The limit that one more of this address would break. */
    fullFor: (group: string): 'address' | 'strangers' | undefined => {
      if ((groups.get(group)?.size ?? 0) >= limits.mostStrangersOfAddress) return 'address';
      return count >= limits.mostStrangers ? 'strangers' : undefined;
    },
    /** Of this address, or of the one that has most. */
    oldestIdle: (group: string | undefined): Connection | undefined => {
      const candidates = group === undefined ? largest() : (groups.get(group) ?? new Set());
      for (const connection of candidates) if (connection.requests === 0) return connection;
      return undefined;
    },
  };
}

/** Which limit was reached; `refused`: the newcomer was closed, since every other connection was busy or known. */
export type DropReason = 'address' | 'strangers' | 'all' | 'refused';

/** The raw socket and the one with TLS on top are the same connection. */
const keyOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;
