/**
 * Stands between a kubelet and its container runtime, in the test's own process: counts the calls, and lets a test hold some of them
 * back or lose events. It passes gRPC on as it is, frame by frame, so either kubelet can use it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FrameReader, frame } from '../../src/wire/grpc-frames.ts';

export interface CriCall {
  /** `/runtime.v1.RuntimeService/ListContainers` */
  readonly path: string;
  /** The encoded request: ids stand in it as plain text. */
  readonly request: Buffer;
}

export interface SeenCall extends CriCall {
  /** The encoded answer, of the calls that make something: without it what they made could not be told apart. */
  readonly answer?: Buffer;
  /** As `performance.now()` tells it. */
  readonly at: number;
}

export interface CriProxy extends AsyncDisposable {
  /** For `containerRuntimeEndpoint`. */
  readonly endpoint: string;
  /** Every call so far, in the order in which they came. */
  calls(): readonly SeenCall[];
  /** Calls that match get no answer until `release`; the runtime never sees those that are given up before. */
  hold(matches: (call: CriCall) => boolean): void;
  release(): void;
  /** Each event of the runtime is lost where this says so. */
  loseEvents(isLost: () => boolean): void;
  /** What the runtime answers is passed on as this makes it; it may not become longer or shorter. */
  changeAnswers(change: (path: string, bytes: Buffer) => Buffer): void;
  /** How many events were lost. */
  lost(): number;
  close(): Promise<void>;
}

/** Calls that answer with one message after the other, for as long as the client listens. */
const EVENT_STREAMS: readonly string[] = [
  '/runtime.v1.RuntimeService/GetContainerEvents',
  '/containerd.services.events.v1.Events/Subscribe',
];
const MAKING: readonly string[] = [
  '/runtime.v1.RuntimeService/RunPodSandbox',
  '/runtime.v1.RuntimeService/CreateContainer',
];
const LARGEST_MESSAGE = 64 * 1024 * 1024;

export async function startCriProxy(runtimeSocket: string): Promise<CriProxy> {
  const directory = await mkdtemp(join(tmpdir(), 'cri-proxy-'));
  const socket = join(directory, 'cri.sock');
  const seen: SeenCall[] = [];
  const held = new Set<() => void>();
  let isHeld: (call: CriCall) => boolean = () => false;
  let isLost: () => boolean = () => false;
  let change: (path: string, bytes: Buffer) => Buffer = (_path, bytes) => bytes;
  let lost = 0;

  const server = createServer();
  const sessions = new Set<ServerHttp2Session | ClientHttp2Session>();
  const upstreams = new WeakMap<object, ClientHttp2Session>();
  const keep = <S extends ServerHttp2Session | ClientHttp2Session>(session: S): S => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    // Either side may break off; the other one is told by the end of its session.
    session.on('error', () => session.destroy());
    return session;
  };

  server.on('session', (session) => {
    keep(session);
    const upstream = keep(connect('http://localhost', { createConnection: () => createConnection(runtimeSocket) }));
    upstreams.set(session, upstream);
    session.once('close', () => upstream.destroy());
    upstream.once('close', () => session.destroy());
  });

  const drop = (): boolean => {
    const drops = isLost();
    if (drops) lost += 1;
    return drops;
  };

  const serve = (client: ServerHttp2Stream, headers: IncomingHttpHeaders): void => {
    const path = headers[':path'] ?? '';
    const chunks: Buffer[] = [];
    client.on('error', () => client.destroy());
    client.on('data', (chunk: Buffer) => chunks.push(chunk));
    client.on('end', () => {
      const call: SeenCall & { answer?: Buffer } = { path, request: Buffer.concat(chunks), at: performance.now() };
      seen.push(call);
      const go = () => {
        const upstream = client.session === undefined ? undefined : upstreams.get(client.session);
        if (client.destroyed || upstream === undefined || upstream.destroyed) return void client.destroy();
        pass(client, upstream.request(headers), {
          body: call.request,
          drop: EVENT_STREAMS.includes(path) ? drop : undefined,
          onChunk: (chunk) => {
            if (MAKING.includes(path)) call.answer = Buffer.concat([call.answer ?? Buffer.alloc(0), chunk]);
          },
          change: (bytes) => change(path, bytes),
        });
      };
      if (!isHeld(call)) return go();
      held.add(go);
      client.once('close', () => held.delete(go));
    });
  };
  server.on('stream', serve);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  const release = () => {
    isHeld = () => false;
    for (const go of held) go();
    held.clear();
  };
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const session of sessions) session.destroy();
    await closed;
    await rm(directory, { recursive: true });
  };
  return {
    endpoint: `unix://${socket}`,
    calls: () => seen,
    hold: (matches) => {
      isHeld = matches;
    },
    release,
    loseEvents: (rule) => {
      isLost = rule;
    },
    changeAnswers: (rule) => {
      change = rule;
    },
    lost: () => lost,
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Passing {
  readonly body: Buffer;
  /** Asked for each message of the answer; undefined where all of them are passed on. */
  readonly drop: (() => boolean) | undefined;
  /** Sees the answer go by, except that of a stream. */
  readonly onChunk: (chunk: Buffer) => void;
  readonly change: (bytes: Buffer) => Buffer;
}

/** Passes a request on, and its answer back: headers, messages, trailers. Whoever gives up first ends the other side too. */
function pass(client: ServerHttp2Stream, runtime: ClientHttp2Stream, { body, drop, onChunk, change }: Passing): void {
  let trailers: IncomingHttpHeaders = {};
  runtime.on('response', (headers, flags) => {
    if (client.destroyed) return;
    // Errors come as headers alone, with the status in them.
    const ends = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    client.respond(answerHeaders(headers), { endStream: ends, waitForTrailers: !ends });
  });
  runtime.on('trailers', (headers) => {
    trailers = headers;
  });
  client.on('wantTrailers', () => client.sendTrailers(trailers));
  const write = (bytes: Buffer) => {
    if (!client.destroyed && client.writable) client.write(bytes);
  };
  const reader = new FrameReader('an event', LARGEST_MESSAGE, (message) => {
    if (!drop?.()) write(frame(message));
  });
  runtime.on('data', (chunk: Buffer) => {
    if (drop !== undefined) return reader.push(chunk);
    onChunk(chunk);
    write(change(chunk));
  });
  runtime.on('end', () => {
    if (client.headersSent && !client.writableEnded) client.end();
  });
  runtime.on('error', () => client.close(constants.NGHTTP2_INTERNAL_ERROR));
  client.once('close', () => runtime.close(constants.NGHTTP2_CANCEL));
  runtime.end(body);
}

/** Of the headers that start with a colon, an answer may carry `:status` alone. */
function answerHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':') || name === ':status'));
}
