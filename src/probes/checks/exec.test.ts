/** The rules of time, with a runtime and a machine that do as the test says. Real ones: tests/node/probes.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodedError } from '../../base/errors.ts';
import { createManualClock } from '../../base/manual-clock.ts';
import type { ContainerProcess } from '../rules/leftovers.ts';
import { type Outcome, refusal, success } from '../rules/outcome.ts';
import { checkExec, type ExecAnswer } from './exec.ts';
import { createExecLeftovers, type ProcessesPort } from './exec-leftovers.ts';
import { never } from './testing.ts';

const COMMAND = ['sh', '-c', 'x'];
const INIT: ContainerProcess = { pid: 10, parent: 1, session: 10, startedAt: 0 };
const FIRST: ContainerProcess = { pid: 20, parent: 1, session: 20, startedAt: 50_000 };
const CHILD: ContainerProcess = { pid: 21, parent: 20, session: 20, startedAt: 50_010 };
const OTHER: ContainerProcess = { pid: 30, parent: 1, session: 30, startedAt: 50_020 };

function world(running: readonly ContainerProcess[], commands: Readonly<Record<number, readonly string[]>> = {}) {
  const clock = createManualClock(50_000);
  const processes = new Set(running);
  const killed: number[] = [];
  const port: ProcessesPort = {
    inCgroup: (part) => (part === 'id' ? [...processes] : []),
    uptime: () => clock.mono(),
    commandOf: (pid) => commands[pid],
    kill: (process) => {
      killed.push(process.pid);
      processes.delete(process);
    },
  };
  const answer = Promise.withResolvers<ExecAnswer>();
  const leftovers = createExecLeftovers(clock, port);
  const asked: AbortSignal[] = [];
  let outcome: Outcome | undefined;
  const run = (signal = never) => {
    const execSync = (_: unknown, call: AbortSignal) => {
      asked.push(call);
      call.addEventListener('abort', () => answer.reject(call.reason));
      return answer.promise;
    };
    const check = { containerId: 'id', command: COMMAND, timeoutSeconds: 5 };
    return checkExec({ clock, execSync, leftovers }, check, signal).then((result) => {
      outcome = result;
    });
  };
  const pass = async (ms: number) => {
    // What was begun first comes to its wait.
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { pass, processes, killed, answer, run, asked, outcome: () => outcome };
}

const TIMED_OUT = { kind: 'failure', output: 'command timed out: "sh -c x" timed out after 5s' };

test('a runtime that does not answer is not waited for', async () => {
  const w = world([INIT, FIRST, CHILD], { 20: COMMAND });
  const done = w.run();
  await w.pass(5_000);
  assert.equal(w.outcome(), undefined);
  await w.pass(200);
  await done;
  assert.deepEqual(w.outcome(), TIMED_OUT);
  assert.ok(w.asked[0]?.aborted, 'the call is taken back');
});

test('what is left of a command that the runtime has ended is killed, nothing else', async () => {
  const w = world([INIT, FIRST, CHILD, OTHER], { 20: COMMAND, 30: ['bash'] });
  const done = w.run();
  await w.pass(4_950);
  w.processes.delete(FIRST);
  w.answer.reject(new CodedError('deadline', 'timeout 5s exceeded'));
  await w.pass(100);
  await done;
  assert.deepEqual(w.outcome(), TIMED_OUT);
  await w.pass(10_000);
  assert.deepEqual(w.killed, [21]);
});

test('a command that the runtime does not end is ended, if it is surely that one', async () => {
  for (const [said, expected] of [
    [COMMAND, [20, 21]],
    [['something', 'else'], []],
  ] as const) {
    const w = world([INIT, FIRST, CHILD, OTHER], { 20: said, 30: ['bash'] });
    const done = w.run();
    await w.pass(6_000);
    await done;
    assert.deepEqual(w.killed, []);
    await w.pass(10_000);
    assert.deepEqual(w.killed, expected);
  }
});

test('a command that begins only after it was given up is ended too', async () => {
  const w = world([INIT]);
  const done = w.run();
  await w.pass(6_000);
  await done;
  const late = { ...FIRST, startedAt: 56_000 };
  w.processes.add(late);
  await w.pass(100);
  const child = { ...CHILD, startedAt: 56_050 };
  w.processes.add(child);
  w.processes.delete(late);
  await w.pass(100);
  assert.deepEqual(w.killed, [21]);
});

test('the next command waits until the last one is gone', async () => {
  const w = world([INIT, FIRST], { 20: COMMAND });
  const first = w.run();
  await w.pass(6_000);
  await first;
  const second = w.run();
  await w.pass(0);
  assert.equal(w.asked.length, 1);
  w.processes.delete(FIRST);
  await w.pass(100);
  assert.equal(w.asked.length, 2);
  await w.pass(10_000);
  await second;
});

test('an answer counts, early or late', async () => {
  for (const at of [0, 250, 1_000, 4_990]) {
    const w = world([INIT, FIRST]);
    const done = w.run();
    await w.pass(at);
    w.answer.resolve({ stdout: Buffer.from('a'), stderr: Buffer.from('b'), exitCode: at === 250 ? 1 : 0 });
    await done;
    assert.deepEqual(w.outcome(), at === 250 ? refusal('ab') : success('ab'));
    await w.pass(20_000);
    assert.deepEqual(w.killed, []);
  }
});

test('an error of the runtime is no verdict, an abort no outcome', async () => {
  const w = world([INIT]);
  const done = w.run();
  w.answer.reject(new CodedError('unavailable', 'rpc error: code = Unavailable desc = gone'));
  await done;
  assert.deepEqual(w.outcome(), {
    kind: 'error',
    state: 'unknown',
    message: 'rpc error: code = Unavailable desc = gone',
  });
  const stop = new AbortController();
  const other = world([INIT]);
  const waiting = other.run(stop.signal);
  await other.pass(100);
  stop.abort(new Error('not wanted'));
  await assert.rejects(waiting, /not wanted/);
});
