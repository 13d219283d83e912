/** A D-Bus peer for tests: signs clients on as systemd does, and answers their calls as a test says. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type DBusMessage, decodeMessage, encodeMessage, MESSAGE_TYPE, messageLength } from './message.ts';
import type { DBusValue } from './values.ts';

export interface Answer {
  readonly signature?: string;
  readonly body?: readonly DBusValue[];
  readonly error?: string;
}

export interface TestPeer {
  readonly path: string;
  /** Names of the methods that were called, in order. */
  readonly calls: string[];
  /** Undefined: no answer at all. */
  answer: (message: DBusMessage) => Answer | undefined;
  signal(signal: {
    path: string;
    interface: string;
    member: string;
    signature: string;
    body: readonly DBusValue[];
  }): void;
  /** Ends every connection. */
  drop(): void;
  /** As bytes, to every client. */
  send(bytes: Buffer): void;
}

export async function createTestPeer(t: TestContext): Promise<TestPeer> {
  const directory = mkdtempSync(join(tmpdir(), 'dbus-'));
  const path = join(directory, 'bus');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    serve(socket, peer);
  });
  const peer: TestPeer = {
    path,
    calls: [],
    answer: () => ({}),
    signal: (signal) => peer.send(encodeMessage({ type: MESSAGE_TYPE.signal, serial: 1, ...signal })),
    drop: () => {
      for (const socket of sockets) socket.destroy();
    },
    send: (bytes) => {
      for (const socket of sockets) socket.write(bytes);
    },
  };
  t.after(() => {
    peer.drop();
    server.close();
    rmSync(directory, { recursive: true });
  });
  server.listen(path);
  await once(server, 'listening');
  return peer;
}

function serve(socket: Socket, peer: TestPeer): void {
  let received = Buffer.alloc(0);
  let signedOn = false;
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (let at = received.indexOf('\r\n'); !signedOn && at >= 0; at = received.indexOf('\r\n')) {
      const line = received.toString('latin1', 0, at);
      received = received.subarray(at + 2);
      if (line.startsWith('\0AUTH EXTERNAL')) socket.write('OK 0123456789abcdef\r\n');
      if (line === 'NEGOTIATE_UNIX_FD') socket.write('AGREE_UNIX_FD\r\n');
      signedOn = line === 'BEGIN';
      // As systemd does: a call that comes in the same read as the end of the greeting is never answered.
      if (signedOn) received = Buffer.alloc(0);
    }
    for (let length = messageLength(received); signedOn && length !== undefined && length <= received.length; ) {
      reply(socket, peer, decodeMessage(received.subarray(0, length)));
      received = received.subarray(length);
      length = messageLength(received);
    }
  });
}

function reply(socket: Socket, peer: TestPeer, message: DBusMessage): void {
  peer.calls.push(message.member ?? '');
  const answer = message.member === 'Hello' ? { signature: 's', body: [':1.1'] } : peer.answer(message);
  if (answer === undefined) return;
  const { signature = '', body = [], error } = answer;
  const common = { serial: 1, replySerial: message.serial };
  socket.write(
    error === undefined
      ? encodeMessage({ ...common, type: MESSAGE_TYPE.reply, signature, body })
      : encodeMessage({ ...common, type: MESSAGE_TYPE.error, errorName: error, signature: 's', body: ['no'] }),
  );
}
