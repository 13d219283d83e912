import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { withLock } from './lock.ts';

let directory = '';
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-test-'));
});
after(() => rm(directory, { recursive: true }));

const never = new AbortController().signal;

test('one at a time, and the one who waits is told so', async () => {
  const file = join(directory, 'one');
  const happened: string[] = [];
  const held = Promise.withResolvers<void>();
  const waits = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const first = withLock({ file, signal: never, onWait: assert.fail }, async () => {
    happened.push('first in');
    held.resolve();
    await mayEnd.promise;
    happened.push('first out');
  });
  await held.promise;
  const second = withLock({ file, signal: never, onWait: waits.resolve }, () => {
    happened.push('second in');
    return Promise.resolve('result');
  });
  await waits.promise;
  mayEnd.resolve();
  await first;
  assert.equal(await second, 'result');
  assert.deepEqual(happened, ['first in', 'first out', 'second in']);
});

test('a failing body gives the lock back and its error on', async () => {
  const file = join(directory, 'failing');
  const fail = () => Promise.reject(new Error('broken'));
  await assert.rejects(withLock({ file, signal: never, onWait: assert.fail }, fail), /broken/);
  await withLock({ file, signal: never, onWait: assert.fail }, () => Promise.resolve());
});

test('an abort ends the wait', async () => {
  const file = join(directory, 'abort');
  await withLock({ file, signal: never, onWait: assert.fail }, async () => {
    const stop = new AbortController();
    const onWait = () => stop.abort(new Error('not longer'));
    await assert.rejects(
      withLock({ file, signal: stop.signal, onWait }, () => Promise.reject(new Error('must not run'))),
      /not longer/,
    );
  });
});

test('a place that can not be locked is named', async () => {
  const file = join(directory, 'no', 'such', 'directory');
  await assert.rejects(
    withLock({ file, signal: never, onWait: assert.fail }, () => Promise.resolve()),
    /can't lock .*\/no\/such\/directory: flock\(1\) ended with 66: .*No such file/,
  );
});

test('a killed holder leaves no stale lock', async () => {
  const file = join(directory, 'killed');
  const script = `
    import { withLock } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'lock.ts')).href)};
    const signal = new AbortController().signal;
    await withLock({ file: process.env.FILE, signal, onWait: () => {} }, async () => {
      process.stdout.write('held');
      await new Promise((resolve) => setTimeout(resolve, 60000));
    });`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, FILE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await withLock({ file, signal: never, onWait: assert.fail }, () => Promise.resolve());
});
