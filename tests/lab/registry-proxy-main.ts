/** The proxy in front of a lab registry, run inside the world: `registry-proxy-main.ts PORT ORIGIN CONTROL-SOCKET`. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createFaultChooser, type Fault, type FaultAction, type SeenRequest, userOf } from './registry-faults.ts';

const [port, origin, controlSocket] = process.argv.slice(2);
if (port === undefined || origin === undefined || controlSocket === undefined) {
  throw new Error('usage: registry-proxy-main.ts PORT ORIGIN CONTROL-SOCKET');
}

let chooser = createFaultChooser([]);
type Recorded = { -readonly [K in keyof SeenRequest]: SeenRequest[K] };
const seen: Recorded[] = [];
/** A slow answer goes out in this many pieces a second. */
const PIECES_PER_SECOND = 20;

async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const method = incoming.method ?? 'GET';
  const path = incoming.url ?? '/';
  const user = userOf(incoming.headers.authorization);
  const record: Recorded = { method, path, ...(user === undefined ? {} : { user }) };
  seen.push(record);
  const early = chooser.next('request', method, path);
  if (early !== undefined) record.fault = early.kind;
  if (early?.kind === 'status') {
    record.status = early.status;
    incoming.resume();
    outgoing.writeHead(early.status).end('{"errors":[{"code":"UNKNOWN","message":"fault of the lab"}]}');
    return;
  }
  if (early?.kind === 'delay') await delay(early.ms);
  const onward = request(new URL(path, origin), { method, headers: incoming.headers }, (answer) => {
    record.status = answer.statusCode ?? 502;
    const late = record.status < 300 ? chooser.next('body', method, path) : undefined;
    if (late !== undefined) record.fault = late.kind;
    outgoing.writeHead(record.status, answer.headers);
    pass(answer, outgoing, late).catch(() => outgoing.destroy());
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

async function pass(answer: IncomingMessage, outgoing: ServerResponse, fault: FaultAction | undefined): Promise<void> {
  let sent = 0;
  for await (const chunk of answer) {
    const bytes = chunk as Buffer;
    if (fault?.kind === 'cut' || fault?.kind === 'stall') {
      const part = bytes.subarray(0, Math.max(0, fault.afterBytes - sent));
      await write(outgoing, part);
      sent += part.length;
      if (sent < fault.afterBytes) continue;
      if (fault.kind === 'cut') outgoing.socket?.resetAndDestroy();
      else await new Promise((resolve) => outgoing.once('close', resolve));
      return;
    }
    if (fault?.kind === 'slow') await trickle(outgoing, bytes, fault.bytesPerSecond);
    else await write(outgoing, bytes);
  }
  outgoing.end();
}

async function trickle(outgoing: ServerResponse, bytes: Buffer, bytesPerSecond: number): Promise<void> {
  const piece = Math.max(1, Math.floor(bytesPerSecond / PIECES_PER_SECOND));
  for (let from = 0; from < bytes.length && !outgoing.destroyed; from += piece) {
    await write(outgoing, bytes.subarray(from, from + piece));
    await delay(1000 / PIECES_PER_SECOND);
  }
}

async function write(outgoing: ServerResponse, bytes: Buffer): Promise<void> {
  if (bytes.length === 0 || outgoing.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.on('drain', done);
    outgoing.on('close', done);
  });
}

async function serveControl(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = Buffer.concat(await incoming.toArray()).toString('utf8');
  if (incoming.method === 'PUT' && incoming.url === '/faults') {
    chooser = createFaultChooser(JSON.parse(body) as Fault[]);
    outgoing.end();
  } else if (incoming.url === '/requests') {
    outgoing.end(JSON.stringify(seen));
  } else {
    outgoing.writeHead(404).end();
  }
}

createServer((incoming, outgoing) => {
  handle(incoming, outgoing).catch((error: unknown) => {
    console.error(error);
    outgoing.destroy();
  });
}).listen(Number(port), '127.0.0.1', () => {
  createServer((incoming, outgoing) => {
    serveControl(incoming, outgoing).catch((error: unknown) => outgoing.writeHead(400).end(String(error)));
  }).listen(controlSocket, () => console.log('proxy is up'));
});
