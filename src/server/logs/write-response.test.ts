import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { podUid } from '../../api/ids.ts';
import type { Pod } from '../../api/pod.ts';
import { createSystemClock } from '../../base/clock.ts';
import { createSilentLogger } from '../../base/logger.ts';
import { createReadiness } from '../../host/event-loop.ts';
import { createFileCalls } from '../../host/file-calls.ts';
import { createGuardedFiles } from '../../host/guarded-files.ts';
import { createInotify } from '../../host/inotify.ts';
import { createSyscalls } from '../../host/syscalls.ts';
import { createFakeReviews, createTestPki, startTestServer } from '../testing.ts';
import { createContainerLogRoute } from './container-logs.ts';
import { createLogWatches } from './log-watch.ts';
import { createReadBuffers } from './read-buffers.ts';
import { createResponseWriter } from './write-response.ts';

const clock = createSystemClock();
const RECORD = `2026-01-01T00:00:00.5Z stdout F ${'x'.repeat(1000)}\n`;
const MIB = 1024 * 1024;

/** A server with the log of one running container of 32 MiB: more than sockets take for a client that reads nothing. */
async function serveLog(t: TestContext, stallMs: number) {
  const podLogs = mkdtempSync(join(tmpdir(), 'stall-'));
  const path = join(podLogs, 'pod/c/0.log');
  mkdirSync(join(podLogs, 'pod/c'), { recursive: true });
  for (let size = 0; size < 32; size += 1) appendFileSync(path, RECORD.repeat(Math.ceil(MIB / RECORD.length)));
  const inotify = createInotify(createSyscalls(), createReadiness());
  const pod: Pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: [{ name: 'c' }] } };
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  const status = { containerStatuses: [{ name: 'c', containerID: 'containerd://id', state, lastState: {} }] };
  const route = createContainerLogRoute({
    clock,
    log: createSilentLogger(),
    buffers: createReadBuffers(),
    watches: createLogWatches({ inotify, clock }),
    place: { files: createGuardedFiles(createFileCalls()), podLogs },
    pods: { find: () => ({ uid: podUid('u'), pod, status: status as never }) },
    runtime: {
      logPath: () => Promise.resolve(path),
      follow: () => ({ isRunning: () => true, onChange: () => () => undefined }),
    },
    splitStreams: false,
    stallMs,
  });
  const pki = await createTestPki();
  const running = await startTestServer(pki, [route], createFakeReviews());
  t.after(async () => {
    await running[Symbol.asyncDispose]();
    inotify.close();
    pki.remove();
    rmSync(podLogs, { recursive: true });
  });
  return {
    /** Asks, and then reads only when told to. */
    ask: async (query: string): Promise<TLSSocket> => {
      const socket = connect({ port: running.server.ports().secure, host: '127.0.0.1', ca: pki.ca });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      const head = 'Host: 127.0.0.1\r\nAuthorization: Bearer admin-token\r\n';
      socket.write(`GET /containerLogs/n/p/c${query} HTTP/1.1\r\n${head}\r\n`);
      await once(socket, 'readable');
      const answer = String(socket.read(15));
      assert.equal(answer, 'HTTP/1.1 200 OK', answer + String(socket.read()));
      return socket;
    },
    readers: () => openFilesBelow(podLogs),
  };
}

function openFilesBelow(directory: string): number {
  const targets = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw error;
    }
  });
  return targets.filter((target) => target.startsWith(directory)).length;
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries += 1) {
    assert.ok(tries < 600, what);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

for (const query of ['', '?follow=true']) {
  test(`a client that reads nothing of a log is disconnected${query && ' when it follows'}`, {
    timeout: 120_000,
  }, async (t) => {
    const { ask, readers } = await serveLog(t, 500);
    const socket = await ask(query);
    await until('the log is open', () => readers() > 0);
    await until('the log is closed again', () => readers() === 0);
    let bytes = 0;
    socket.on('data', (part: Buffer) => {
      bytes += part.length;
    });
    if (!socket.closed) await once(socket, 'close');
    assert.ok(bytes < 32 * MIB, 'the client got all of it');
  });
}

test('a follower of a silent log is not disconnected', { timeout: 120_000 }, async (t) => {
  const { ask, readers } = await serveLog(t, 500);
  const silent = await ask('?follow=true&tailLines=1');
  silent.resume();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  assert.deepEqual([silent.closed, readers()], [false, 1]);
  silent.destroy();
  await until('the log is closed', () => readers() === 0);
});

test('a client that reads nothing of the end of an answer is disconnected, a slow one is not', async (t) => {
  const outcomes: Promise<unknown>[] = [];
  const server = createServer((request, response) => {
    const { write, end } = createResponseWriter(response, 1500);
    const send = async () => {
      for (let sent = 0; sent < 1000 && request.url === '/slow'; sent += 1) await write(Buffer.alloc(64 << 10));
      if (request.url !== '/slow') response.write(Buffer.alloc(32 * MIB));
      end();
      await once(response, 'close');
      return response.writableFinished;
    };
    outcomes.push(send());
  });
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = async (path: string) => {
    const socket = connectPlain({ host: '127.0.0.1', port });
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n`);
    await once(server, 'request');
    return socket;
  };
  const stalled = await client('/stalled');
  stalled.pause();
  assert.equal(await outcomes[0], false);
  stalled.destroy();
  const slow = await client('/slow');
  let taken = 0;
  for await (const piece of slow) {
    taken += piece.length;
    // Thirty pauses, together far longer than the limit.
    if (taken % (2 << 20) < piece.length) await new Promise((resolve) => setTimeout(resolve, 60));
  }
  assert.equal(await outcomes[1], true);
});
