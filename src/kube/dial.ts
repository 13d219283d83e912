/** Opens a connection to the API server: the socket, through a proxy if there is one, and TLS on it. */
import type { Socket } from 'node:net';
import { getCACertificates, type TLSSocket } from 'node:tls';
import { CodedError } from '../base/errors.ts';
import { connectTcp, startTls, type TlsStart } from '../wire/open-socket.ts';
import type { TlsMaterial } from './pem-files.ts';
import { passProxy } from './proxy.ts';
import type { ClusterAccess } from './rules/kubeconfig.ts';

/** Opens a plain TCP connection. Passed in if the server is in another network than this process. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

export interface OpenSocket {
  readonly socket: Socket;
  readonly protocol: 'h2' | 'http/1.1';
}

const KEEP_ALIVE_MS = 30_000;

export const dialTcp: Dial = async (host, port, signal) => {
  try {
    const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    return await connectTcp({ host, port, noDelay: true, ...keepAlive }, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new CodedError('unavailable', `failed to connect to ${host}:${port}`, { cause });
  }
};

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

async function secure(
  socket: Socket,
  { cluster, material }: Omit<DialRequest, 'dial'>,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { endpoint, serverName } = cluster;
  const { cert, key } = material;
  const options: TlsStart = {
    socket,
    host: serverName ?? endpoint.host,
    ca: material.ca ?? machineAuthorities(),
    ...(cert === undefined ? {} : { cert, key }),
    rejectUnauthorized: !cluster.skipVerify,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['h2', 'http/1.1'],
  };
  try {
    return await startTls(options, signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new CodedError('unavailable', `TLS handshake with ${endpoint.text} failed`, { cause });
  }
}

function machineAuthorities(): string[] {
  return [...getCACertificates('default'), ...getCACertificates('system')];
}
