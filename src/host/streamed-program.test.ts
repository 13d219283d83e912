import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamProgram } from './streamed-program.ts';

const environment = { PATH: '/usr/bin:/bin' };
const never = new AbortController().signal;

async function run(script: string, signal = never) {
  const parts: Buffer[] = [];
  const program = { path: 'sh', args: ['-c', script], environment };
  const code = await streamProgram(program, (bytes) => void parts.push(bytes), signal);
  return { code, text: Buffer.concat(parts).toString() };
}

test('both outputs and the exit code', async () => {
  assert.deepEqual(await run('echo out; sleep 0.1; echo err >&2; exit 3'), { code: 3, text: 'out\nerr\n' });
  assert.deepEqual(await run('kill -9 $$'), { code: -1, text: '' });
});

test('a slow taker holds the program up instead of filling the memory', async () => {
  let taken = 0;
  let most = 0;
  const program = { path: 'sh', args: ['-c', 'head -c 20000000 /dev/zero'], environment };
  await streamProgram(
    program,
    async (bytes) => {
      taken += bytes.length;
      most = Math.max(most, bytes.length);
      await new Promise((resolve) => setImmediate(resolve));
    },
    never,
  );
  assert.equal(taken, 20_000_000);
  assert.ok(most <= 1024 * 1024);
});

test('a program that is not there', async () => {
  const program = { path: 'no-such-program', args: [], environment };
  await assert.rejects(
    streamProgram(program, () => undefined, never),
    { code: 'ENOENT' },
  );
});

test('ends with all that it started when no one wants it any more', { timeout: 120_000 }, async () => {
  const stop = new AbortController();
  const running = run('sleep 1000 & echo up; sleep 1000', stop.signal);
  setTimeout(() => stop.abort(new Error('enough')), 100);
  await assert.rejects(running, /enough/);
});
