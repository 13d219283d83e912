import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Part, startPart } from './part.ts';

async function start(t: TestContext, script: string, logFile?: string): Promise<Part> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-ts-part-'));
  const part = startPart({
    name: 'thing',
    argv: ['sh', '-c', script],
    env: process.env,
    logFile: logFile ?? join(directory, 'logs', 'thing.log'),
  });
  t.after(async () => {
    part.kill('SIGKILL');
    await part.exited;
    await rm(directory, { recursive: true, force: true });
  });
  return part;
}

test('both outputs go to the log, and a line that comes later is waited for', async (t) => {
  const part = await start(t, 'echo one; echo two >&2; sleep 0.2; echo ready now; exec sleep 100');
  assert.equal(await part.waitForLog(/ready/, 5000), 'ready now');
  assert.equal(await readFile(part.logFile, 'utf8'), 'one\ntwo\nready now\n');
  assert.ok(part.isRunning());
});

test('a line of an earlier start does not count', async (t) => {
  const first = await start(t, 'echo ready; exec sleep 100');
  await first.waitForLog(/ready/, 5000);
  const second = await start(t, 'sleep 0.1; echo again; exec sleep 100', first.logFile);
  await assert.rejects(second.waitForLog(/ready/, 500), /no \/ready\/ in its log within 500 ms:\nagain/);
});

test('waiting for a program that ends fails at once, with its last words', async (t) => {
  const part = await start(t, 'echo cannot do that; exit 3');
  await assert.rejects(part.waitForLog(/ready/, 60_000), /thing ended \(exit code 3\) before .*\n?cannot do that/s);
  assert.deepEqual(await part.exited, { code: 3, signal: null });
  part.kill('SIGTERM'); // of a program that has ended: nothing happens
});

test('stop asks first and kills what does not listen', async (t) => {
  const polite = await start(t, 'trap "exit 7" TERM; echo up; while :; do sleep 0.01; done');
  await polite.waitForLog(/up/, 5000);
  assert.deepEqual(await polite.stop(5000), { code: 7, signal: null });
  const deaf = await start(t, 'trap "" TERM; echo up; while :; do sleep 0.01; done');
  await deaf.waitForLog(/up/, 5000);
  assert.deepEqual(await deaf.stop(100), { code: null, signal: 'SIGKILL' });
});

test('a program that is not there is an error', () => {
  const logFile = join(tmpdir(), `kubelet-ts-part-${process.pid}.log`);
  assert.throws(
    () => startPart({ name: 'ghost', argv: ['/no/such/program'], env: {}, logFile }),
    /ghost: can't start \/no\/such\/program/,
  );
  return rm(logFile);
});
