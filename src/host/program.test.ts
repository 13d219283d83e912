import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createSystemClock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { type Program, runProgram } from './program.ts';

const never = new AbortController().signal;
const shell = (script: string, more: Partial<Program> = {}): Program => ({
  path: '/bin/sh',
  args: ['-c', script],
  environment: { PATH: '/usr/bin:/bin' },
  input: '',
  ...more,
});
const run = (program: Program, deadlineMs = 20_000, signal = never) =>
  runProgram(program, { clock: createSystemClock(), deadlineMs, signal });
const isCoded = (code: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof CodedError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, text);
  return true;
};
/** A zombie whose parent has not looked yet is as good as gone. */
const isAlive = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false; // gone
  }
};

test('input goes in, output comes back, with only the environment that was given', async () => {
  assert.equal(
    await run(shell('cat; echo "$A$HOME"', { input: 'grüße ', environment: { A: 'x', PATH: '/bin' } })),
    'grüße x\n',
  );
  assert.equal(await run(shell('exec echo unread', { input: 'x'.repeat(1_000_000) })), 'unread\n');
});

test('a failure says what the program complained about', async () => {
  await assert.rejects(
    run(shell('echo secret; echo "no access" >&2; exit 3')),
    isCoded('internal', /^\/bin\/sh ended with code 3: no access$/),
  );
  await assert.rejects(run(shell('kill -9 $$')), isCoded('internal', /ended by SIGKILL/));
  await assert.rejects(run(shell('', { path: '/no/such/program' })), isCoded('unavailable', /can't be run/));
  await assert.rejects(run(shell('head -c 3000000 /dev/zero')), isCoded('exhausted', /writes too much/));
});

test('when time is up or no one wants it any more, it ends with all that it started', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'program-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'pids');
  const script = shell('sleep 1000 & echo $! $$ > "$FILE.part"; mv "$FILE.part" "$FILE"; wait', {
    environment: { PATH: '/usr/bin:/bin', FILE: file },
  });
  const started = async () => {
    while (!existsSync(file)) await delay(5);
    const pids = (await readFile(file, 'utf8')).trim().split(' ').map(Number);
    await rm(file);
    assert.equal(pids.length, 2);
    return pids;
  };
  const allGone = async (pids: readonly number[]) => {
    while (pids.some(isAlive)) await delay(5);
  };

  const late = run(script, 1000);
  const pids = await started();
  await assert.rejects(late, isCoded('deadline', /no answer within 1000 ms/));
  await allGone(pids);

  const controller = new AbortController();
  const unwanted = run(script, 20_000, controller.signal);
  const others = await started();
  controller.abort(new Error('not wanted'));
  await assert.rejects(unwanted, /not wanted/);
  await allGone(others);
});
