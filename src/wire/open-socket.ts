/** Opens TCP connections and starts TLS on them, for every HTTP client of the kubelet. Both can be aborted. */
import { connect, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';

/** Rejects with the signal's reason, or with the error that Node gave: its caller knows how to name it. */
export function connectTcp(options: TcpNetConnectOpts, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const socket = connect(options);
    const onAbort = () => {
      socket.destroy();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // Stays for the life of the socket: an error without any listener would end the process.
    socket.on('error', (error) => {
      signal.removeEventListener('abort', onAbort);
      reject(error);
    });
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      resolve(socket);
    });
  });
}

export interface TlsStart extends Omit<ConnectionOptions, 'socket' | 'host' | 'servername'> {
  /** Destroyed if the handshake fails. */
  readonly socket: Socket;
  /** The name or address that the certificate must be for. */
  readonly host: string;
}

/** Rejects with the signal's reason, or with the error that Node gave; its code is `ECONNRESET` if the other side hung up. */
export function startTls(options: TlsStart, signal: AbortSignal): Promise<TLSSocket> {
  const { socket: raw, host } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      raw.destroy();
      reject(signal.reason);
      return;
    }
    const fail = (error: unknown) => {
      signal.removeEventListener('abort', onAbort);
      raw.destroy();
      reject(error);
    };
    const onAbort = () => fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    // An address is no server name in TLS; the certificate is checked against `host` then.
    const secured = connectTls({ ...options, ...(isIP(host) === 0 ? { servername: host } : {}) });
    const onClose = () => fail(Object.assign(new Error('closed during the TLS handshake'), { code: 'ECONNRESET' }));
    raw.once('close', onClose);
    // Stays, as the one of the plain socket does; after the handshake it has nothing left to reject.
    secured.on('error', fail);
    secured.once('close', onClose);
    secured.once('secureConnect', () => {
      signal.removeEventListener('abort', onAbort);
      raw.off('close', onClose);
      secured.off('close', onClose);
      resolve(secured);
    });
  });
}
