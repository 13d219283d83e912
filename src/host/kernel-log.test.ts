import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createReadiness } from './event-loop.ts';
import { followKernelLog, type KernelLogListener } from './kernel-log.ts';

const readiness = createReadiness();
const ignored: KernelLogListener = {
  onRecord: () => undefined,
  onGap: () => undefined,
  onDrained: () => undefined,
  onFailure: (error) => assert.fail(String(error)),
};

/** A pipe gives bytes as they come, like the log of the kernel, and says when there are none. */
function makePipe(t: { after(call: () => void): void }) {
  const directory = mkdtempSync(join(tmpdir(), 'kmsg-'));
  const path = join(directory, 'log');
  execFileSync('mkfifo', [path]);
  const writer = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => {
    closeSync(writer);
    rmSync(directory, { recursive: true });
  });
  return { path, write: (text: string) => void writeSync(writer, text) };
}

test('records are delivered as they come, with a word when there are no more', async (t) => {
  const { path, write } = makePipe(t);
  const seen: string[] = [];
  let drained = Promise.withResolvers<void>();
  const log = followKernelLog(
    readiness,
    { ...ignored, onRecord: (text) => void seen.push(text), onDrained: () => drained.resolve() },
    path,
  );
  t.after(() => log.close());
  for (const text of ['6,1,1,-;one\n', '6,2,1,-;two\n']) {
    drained = Promise.withResolvers();
    write(text);
    await keepAlive(drained.promise);
  }
  assert.deepEqual(seen, ['6,1,1,-;one\n', '6,2,1,-;two\n']);
  log.close();
  log.close();
});

test('a listener that throws ends with a report, not with the process', async (t) => {
  const { path, write } = makePipe(t);
  const failed = Promise.withResolvers<unknown>();
  const onRecord = () => {
    throw new Error('no room');
  };
  followKernelLog(readiness, { ...ignored, onRecord, onFailure: failed.resolve }, path);
  write('6,1,1,-;one\n');
  assert.match(String(await keepAlive(failed.promise)), /no room/);
});

test('a log that may not be read is an error at once', () => {
  assert.throws(() => followKernelLog(readiness, ignored, '/no/such/log'), /ENOENT/);
});

/** Waiting for a descriptor does not keep a process alive. */
async function keepAlive<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, 1000);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}
