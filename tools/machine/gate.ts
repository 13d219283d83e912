/** Connections and HTTP requests from this process into the network of a world. */
import http from 'node:http';
import https from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import type { World } from './world.ts';

export interface GateRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly tls?: tls.ConnectionOptions;
  readonly signal?: AbortSignal;
}

export interface GateResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  text(): string;
}

export interface Gate {
  /** A TCP connection as a process inside the world would get it; an error with its `code` (ECONNREFUSED…) otherwise. */
  connect(host: string, port: number): Promise<Socket>;
  /** One request, its whole answer. A status of 400 or more is an answer too. */
  request(url: string | URL, request?: GateRequest): Promise<GateResponse>;
  /** The response while it comes: for watches and streams. */
  stream(url: string | URL, request?: GateRequest): Promise<http.IncomingMessage>;
}

export async function openGate(world: Pick<World, 'directory' | 'start'>): Promise<Gate> {
  const socketPath = join(world.directory, 'gate.sock');
  const program = join(import.meta.dirname, 'gate-main.ts');
  const part = await world.start({ name: 'gate', argv: [process.execPath, program, socketPath] });
  await part.waitForLog(/gate is open/, 120_000);
  const dial = (host: string, port: number) => dialThrough(socketPath, host, port);
  const stream = (url: string | URL, request: GateRequest = {}) => send(dial, new URL(url), request);
  return {
    connect: dial,
    stream,
    request: async (url, request) => {
      const response = await stream(url, request);
      const body = Buffer.concat(await response.toArray());
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        body,
        text: () => body.toString('utf8'),
      };
    },
  };
}

function dialThrough(socketPath: string, host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    const onClose = () => reject(new Error(`the gate closed before it answered for ${host}:${port}`));
    socket.once('error', reject);
    socket.once('close', onClose);
    socket.write(`${host} ${port}\n`);
    let answer = '';
    const onReadable = () => {
      // Byte by byte up to the end of the line: what follows belongs to the caller.
      for (let byte = socket.read(1); byte !== null; byte = socket.read(1)) {
        const letter = String(byte);
        if (letter !== '\n') {
          answer += letter;
          continue;
        }
        socket.off('readable', onReadable);
        socket.off('error', reject);
        socket.off('close', onClose);
        if (answer === 'ok') {
          resolve(socket);
        } else {
          socket.destroy();
          reject(Object.assign(new Error(`connect to ${host}:${port}: ${answer}`), { code: answer }));
        }
        return;
      }
    };
    socket.on('readable', onReadable);
  });
}

async function send(
  dial: (host: string, port: number) => Promise<Socket>,
  url: URL,
  request: GateRequest,
): Promise<http.IncomingMessage> {
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const plain = await dial(host, Number(url.port || (secure ? 443 : 80)));
  const socket = secure ? tls.connect({ socket: plain, servername: '', ...request.tls }) : plain;
  return await new Promise((resolve, reject) => {
    const options: http.RequestOptions = {
      method: request.method ?? 'GET',
      headers: { connection: 'close', ...request.headers },
      createConnection: () => socket,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    };
    const outgoing = (secure ? https : http).request(url, options, resolve);
    outgoing.on('error', reject);
    outgoing.end(request.body);
  });
}
