/** Opens a connection to the API server: the socket, through a proxy if there is one, and TLS on it. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, getCACertificates, type TLSSocket } from 'node:tls';
import { CodedError } from '../base/errors.ts';
import type { TlsMaterial } from './pem-files.ts';
import { passProxy } from './proxy.ts';
import type { ClusterAccess } from './rules/kubeconfig.ts';

/** A plain TCP connection. Passed in where the server is in another network than this process. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

export interface OpenSocket {
  readonly socket: Socket;
  readonly protocol: 'h2' | 'http/1.1';
}

const KEEP_ALIVE_MS = 30_000;

export const dialTcp: Dial = (host, port, signal) =>
  new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS });
    const onAbort = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const onError = (cause: Error) => {
      signal.removeEventListener('abort', onAbort);
      reject(
        signal.aborted ? signal.reason : new CodedError('unavailable', `no connection to ${host}:${port}`, { cause }),
      );
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      resolve(socket);
    });
  });

export interface DialRequest {
  readonly cluster: ClusterAccess;
  readonly material: TlsMaterial;
  readonly dial: Dial;
}

export async function openSocket({ cluster, material, dial }: DialRequest, signal: AbortSignal): Promise<OpenSocket> {
  const { endpoint, proxy } = cluster;
  const raw =
    proxy === undefined
      ? await dial(endpoint.host, endpoint.port, signal)
      : await passProxy({ proxy, target: endpoint, dial }, signal);
  if (!endpoint.secure) return { socket: raw, protocol: 'http/1.1' };
  const secured = await secure(raw, { cluster, material }, signal);
  return { socket: secured, protocol: secured.alpnProtocol === 'h2' ? 'h2' : 'http/1.1' };
}

function secure(
  raw: Socket,
  { cluster, material }: Omit<DialRequest, 'dial'>,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { endpoint, serverName } = cluster;
  const name = serverName ?? endpoint.host;
  const { cert, key } = material;
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      signal.removeEventListener('abort', onAbort);
      raw.destroy();
      const told = new CodedError('unavailable', `TLS with ${endpoint.text}`, { cause });
      reject(signal.aborted ? signal.reason : told);
    };
    const onAbort = () => fail(signal.reason);
    if (signal.aborted) {
      onAbort();
      return;
    }
    const socket = connectTls({
      socket: raw,
      host: name,
      // An address is no server name in TLS; the certificate is checked against `host` then.
      ...(isIP(name) === 0 ? { servername: name } : {}),
      ca: material.ca ?? machineAuthorities(),
      ...(cert === undefined ? {} : { cert, key }),
      rejectUnauthorized: !cluster.skipVerify,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    signal.addEventListener('abort', onAbort, { once: true });
    const onClose = () => fail(new Error('closed during the handshake'));
    socket.once('error', fail);
    socket.once('close', onClose);
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', fail);
      socket.off('close', onClose);
      resolve(socket);
    });
  });
}

function machineAuthorities(): string[] {
  return [...getCACertificates('default'), ...getCACertificates('system')];
}
