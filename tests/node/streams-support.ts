/** A client of the kubelet's streams and logs, as kubectl would be one without an API server in between. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import type { GateResponse } from '../../tools/machine/gate.ts';
import type { LabNode } from '../lab/lab.ts';

const [HOST, PORT] = ['127.0.0.1', 10250];
const [OPCODE_BINARY, OPCODE_CLOSE] = [2, 8];

export interface KubeletClient {
  request(path: string, method?: string, headers?: Readonly<Record<string, string>>): Promise<GateResponse>;
  stream(path: string, signal?: AbortSignal): Promise<IncomingMessage>;
  /**
   * A session of exec, attach or port-forward over a WebSocket; a refusal is an error with what was said. A browser can't set headers: it
   * sends the token as a sub-protocol.
   */
  session(path: string, asBrowser?: boolean): Promise<Session>;
}

/** Channels: 0 stdin, 1 stdout, 2 stderr, 3 how it ended, 4 size of the terminal; of a port-forward 0 data, 1 errors. */
export interface Session {
  send(channel: number, bytes: string | Buffer): void;
  /** What came on a channel so far. */
  received(channel: number): string;
  until(what: string, isSo: () => boolean): Promise<void>;
  /** When the other side has closed it. */
  readonly closed: Promise<void>;
  close(): void;
}

export function kubeletClient(node: LabNode): KubeletClient {
  const headers = () => {
    const file = join(node.kubeletDirectory, 'server-token');
    return existsSync(file) ? { authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` } : {};
  };
  const insecure = { rejectUnauthorized: false };
  const url = (path: string) => `https://${HOST}:${PORT}${path}`;
  return {
    request: (path, method = 'GET', more = {}) =>
      node.gate.request(url(path), { method, tls: insecure, headers: { ...headers(), ...more } }),
    stream: (path, signal) =>
      node.gate.stream(url(path), { tls: insecure, headers: headers(), ...(signal && { signal }) }),
    session: async (path, asBrowser = false) => {
      const socket = tls.connect({ socket: await node.gate.connect(HOST, PORT), ...insecure });
      const more = Object.entries(headers()).map(([name, value]) =>
        asBrowser ? `Sec-WebSocket-Protocol: ${tokenProtocol(value)}\r\n` : `${name}: ${value}\r\n`,
      );
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
          `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n${more.join('')}\r\n`,
      );
      return openSession(socket);
    },
  };
}

/** The sub-protocol for the token of an Authorization header. */
export function tokenProtocol(authorization: string): string {
  const token = authorization.replace('Bearer ', '');
  return `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`;
}

async function openSession(socket: Duplex): Promise<Session> {
  let bytes = Buffer.alloc(0);
  const channels = new Map<number, Buffer[]>();
  let wake = () => undefined as unknown;
  let isOpen = false;
  const closed = Promise.withResolvers<void>();
  const take = () => {
    for (let frame = frameAt(bytes); frame !== undefined; frame = frameAt(bytes)) {
      bytes = bytes.subarray(frame.end);
      if (frame.opcode === OPCODE_CLOSE) socket.end();
      else channels.set(frame.body[0] ?? 0, [...(channels.get(frame.body[0] ?? 0) ?? []), frame.body.subarray(1)]);
    }
  };
  socket.on('data', (more: Buffer) => {
    bytes = Buffer.concat([bytes, more]);
    if (isOpen) take();
    wake();
  });
  socket.on('error', () => closed.resolve());
  socket.on('close', () => {
    closed.resolve();
    wake();
  });
  let isOver = false;
  void closed.promise.then(() => {
    isOver = true;
  });
  const next = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, 1000).unref();
    });
  while (!bytes.includes('\r\n\r\n') && !isOver) await next();
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, end).toString();
  if (!head.startsWith('HTTP/1.1 101')) {
    await closed.promise;
    throw new Error(`${head.split('\r\n')[0]}: ${bytes.subarray(end + 4).toString()}`);
  }
  bytes = bytes.subarray(end + 4);
  isOpen = true;
  take();
  const received = (channel: number) => Buffer.concat(channels.get(channel) ?? []).toString();
  return {
    send: (channel, body) => void socket.write(frameOf(Buffer.concat([Buffer.from([channel]), Buffer.from(body)]))),
    received,
    until: async (what, isSo) => {
      const deadline = performance.now() + 120_000;
      while (!isSo()) {
        const seen = [...channels.keys()].map((channel) => `${channel}: ${received(channel).slice(-200)}`);
        assert.ok(performance.now() < deadline && !(isOver && !isSo()), `${what}; received ${seen.join(' | ')}`);
        await next();
      }
    },
    closed: closed.promise,
    close: () => void socket.destroy(),
  };
}

function frameAt(bytes: Buffer): { readonly opcode: number; readonly body: Buffer; readonly end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 127;
  const start = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < start) return undefined;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < start + length) return undefined;
  return { opcode: (bytes[0] ?? 0) & 15, body: bytes.subarray(start, start + length), end: start + length };
}

/** Clients must mask what they send; a mask of zeros leaves it as it is. */
function frameOf(body: Buffer): Buffer {
  const head = Buffer.alloc(body.length < 126 ? 6 : 8);
  head[0] = 0x80 | OPCODE_BINARY;
  head[1] = 0x80 | Math.min(body.length, 126);
  if (body.length >= 126) head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}
