import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from './command.ts';

/** Resolves when the process has ended; whether its new parent has collected it already does not matter. */
async function gone(pid: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (stat === undefined || /\) [ZX] /.test(stat)) return;
    await sleep(10);
  }
  assert.fail(`process ${pid} still runs`);
}

const env = { PATH: process.env['PATH'] };

for (const { name, argv, stdin, code, stdout, last } of [
  { name: 'success with output', argv: ['sh', '-c', 'echo one; echo two'], code: 0, stdout: 'one\ntwo', last: 'two' },
  { name: 'failure is an answer', argv: ['sh', '-c', 'echo no >&2; exit 3'], code: 3, stdout: '', last: 'no' },
  { name: 'ended by a signal', argv: ['sh', '-c', 'kill -TERM $$'], code: 143, stdout: '', last: undefined },
  { name: 'reads its input', argv: ['cat'], stdin: 'hello', code: 0, stdout: 'hello', last: 'hello' },
  { name: 'ignores its input', argv: ['true'], stdin: 'x'.repeat(1 << 20), code: 0, stdout: '', last: undefined },
  { name: 'no such program', argv: ['/no/such'], code: 127, stdout: '', last: 'spawn /no/such ENOENT' },
] as const) {
  test(`runs a program: ${name}`, async () => {
    const outcome = await runCommand({ argv, env, ...(stdin !== undefined && { stdin }) });
    assert.equal(outcome.code, code);
    assert.equal(outcome.stdout, stdout);
    assert.equal(outcome.lastLines.at(-1), last);
  });
}

test('shows every line, keeps the last ones of both outputs', async () => {
  const seen: string[] = [];
  const outcome = await runCommand({
    argv: ['sh', '-c', 'for i in $(seq 100); do echo $i >&2; done'],
    env,
    onLine: (line) => seen.push(line),
  });
  assert.equal(seen.length, 100);
  assert.deepEqual(outcome.lastLines.slice(-2), ['99', '100']);
  assert.equal(outcome.lastLines.length, 30);
});

test('the environment is the given one, not ours with additions', async () => {
  const outcome = await runCommand({ argv: ['/usr/bin/env'], env: { ONLY: 'this' } });
  assert.equal(outcome.stdout, 'ONLY=this');
});

test('an abort ends the program and what it started', async () => {
  const stop = new AbortController();
  let grandchild = 0;
  const running = runCommand({
    // A shell ignores SIGINT in what it starts in the background, so this also needs the kill that follows.
    argv: ['sh', '-c', 'trap "" INT; (trap - INT; exec sleep 60) & echo $!; wait $!'],
    env,
    signal: stop.signal,
    onLine: (line) => {
      grandchild = Number(line);
      stop.abort(new Error('enough'));
    },
    msUntilKill: 50,
  });
  await assert.rejects(running, /enough/);
  assert.ok(grandchild > 1);
  await gone(grandchild);
});

test('an abort before the start starts nothing', async () => {
  await assert.rejects(runCommand({ argv: ['/no/such'], env, signal: AbortSignal.abort(new Error('early')) }), /early/);
});
