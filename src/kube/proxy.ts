/** Connects through a proxy: HTTP CONNECT or SOCKS5. */
import { isIPv6, type Socket } from 'node:net';
import { CodedError } from '../base/errors.ts';
import { startTls } from '../wire/open-socket.ts';
import type { Dial } from './dial.ts';
import type { ProxyServer } from './rules/endpoint.ts';
import { addressBytes, SOCKS_FAILURES } from './rules/socks.ts';

export interface ProxyRequest {
  readonly proxy: ProxyServer;
  readonly target: { readonly host: string; readonly port: number };
  readonly dial: Dial;
}

const LONGEST_HEAD = 16 * 1024;
/** The CONNECT request is written in HTTP/1.1. */
const ALPNProtocols = ['http/1.1'];

/** Resolves with a socket to the target. */
export async function passProxy({ proxy, target, dial }: ProxyRequest, signal: AbortSignal): Promise<Socket> {
  const plain = await dial(proxy.host, proxy.port, signal);
  const onAbort = () => plain.destroy(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    if (proxy.kind === 'socks5') {
      await askSocks(plain, proxy, target);
      return plain;
    }
    const socket =
      proxy.kind === 'https' ? await startTls({ socket: plain, host: proxy.host, ALPNProtocols }, signal) : plain;
    await askConnect(socket, proxy, target);
    return socket;
  } catch (cause) {
    plain.destroy();
    signal.throwIfAborted();
    throw new CodedError('unavailable', `proxy ${proxy.kind}://${proxy.host}:${proxy.port}`, { cause });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function askConnect(socket: Socket, { login }: ProxyServer, { host, port }: ProxyRequest['target']) {
  const place = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const basic = login && Buffer.from(`${login.user}:${login.password}`).toString('base64');
  const credentials = basic === undefined ? '' : `Proxy-Authorization: Basic ${basic}\r\n`;
  socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n${credentials}\r\n`);
  const reader = createReader(socket);
  const head = await reader.until('\r\n\r\n');
  reader.release();
  const [status = ''] = head.split('\r\n');
  if (!/^HTTP\/1\.[01] 2\d\d\b/.test(status)) throw new Error(`CONNECT ${place} was refused: ${status}`);
}

async function askSocks(socket: Socket, { login }: ProxyServer, { host, port }: ProxyRequest['target']) {
  const reader = createReader(socket);
  socket.write(login === undefined ? Buffer.from([5, 1, 0]) : Buffer.from([5, 2, 0, 2]));
  const [version, method] = await reader.exactly(2);
  if (version !== 5) throw new Error(`it does not use SOCKS5: first byte ${version}`);
  if (method === 2 && login !== undefined) {
    const user = Buffer.from(login.user);
    const password = Buffer.from(login.password);
    socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([password.length]), password]));
    const [, refused] = await reader.exactly(2);
    if (refused !== 0) throw new Error('it refused this user and password');
  } else if (method !== 0) {
    throw new Error(
      login === undefined ? 'it requires a user and a password' : 'it does not accept a user and a password',
    );
  }
  socket.write(Buffer.concat([Buffer.from([5, 1, 0]), addressBytes(host), Buffer.from([port >> 8, port & 255])]));
  const [, failure = 0, , kind] = await reader.exactly(4);
  if (failure !== 0) throw new Error(SOCKS_FAILURES[failure] ?? `it refused with code ${failure}`);
  const [length = 0] = kind === 3 ? await reader.exactly(1) : [kind === 4 ? 16 : 4];
  await reader.exactly(length + 2);
  reader.release();
}

interface Reader {
  exactly(count: number): Promise<Buffer>;
  until(mark: string): Promise<string>;
  /** Gives back what was read beyond the answer: it belongs to the next user of the socket. */
  release(): void;
}

function createReader(socket: Socket): Reader {
  let held = Buffer.alloc(0);
  let wake: () => void = () => undefined;
  let failure: Error | undefined;
  const onData = (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    wake();
  };
  const onError = (error: Error) => {
    failure ??= error;
    wake();
  };
  const onEnd = () => onError(new Error('it closed the connection'));
  socket.on('data', onData).on('error', onError).on('close', onEnd).on('end', onEnd);
  const more = async (enough: () => number): Promise<Buffer> => {
    for (let length = enough(); ; length = enough()) {
      if (length > 0) {
        const taken = held.subarray(0, length);
        held = held.subarray(length);
        return taken;
      }
      if (failure !== undefined) throw failure;
      if (held.length > LONGEST_HEAD) throw new Error('its answer is too long');
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    exactly: (count) => more(() => (held.length >= count ? count : 0)),
    until: async (mark) => {
      const head = await more(() => {
        const at = held.indexOf(mark);
        return at < 0 ? 0 : at + mark.length;
      });
      return head.toString('latin1');
    },
    release: () => {
      socket.pause();
      socket.off('data', onData).off('error', onError).off('close', onEnd).off('end', onEnd);
      if (held.length > 0) socket.unshift(held);
    },
  };
}
