import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContainerProcess, endedOf, firstProcesses, leftoversOf } from './leftovers.ts';

/** pid, parent, session, startedAt */
type Row = readonly [number, number, number, number];
const processes = (...rows: readonly Row[]): readonly ContainerProcess[] =>
  rows.map(([pid, parent, session, startedAt]) => ({ pid, parent, session, startedAt }));
const pids = (found: readonly ContainerProcess[]) => found.map(({ pid }) => pid);

const SHIM = 50;
const INIT: Row = [100, SHIM, 100, 1000];
const WORKER: Row = [101, 100, 100, 1100];

test('first processes of commands: started from outside, in a session of their own, since that time', () => {
  const before = processes(
    INIT,
    WORKER,
    [200, SHIM, 200, 5000],
    [201, 200, 200, 5010],
    // Began a session of its own within the container.
    [202, 200, 202, 5020],
    // Of another command, from before.
    [150, SHIM, 150, 4000],
  );
  assert.deepEqual(pids(firstProcesses(before, 4990)), [200]);
  assert.deepEqual(pids(firstProcesses(before, 0)), [200, 150]);
  assert.deepEqual(firstProcesses([], 0), []);
});

test('where pods share their processes, an orphan is the sandbox’s child and no command', () => {
  const SANDBOX = 60;
  const now = processes(INIT, [200, SHIM, 200, 5000], [202, SANDBOX, 202, 5020]);
  assert.deepEqual(pids(firstProcesses(now, 4990)), [200]);
});

test('only the command that ended loses what it left, also where others run commands there', () => {
  const before = processes(
    INIT,
    WORKER,
    [200, SHIM, 200, 5000],
    [201, 200, 200, 5010],
    [202, 200, 202, 5020],
    [203, 202, 202, 5030],
    [300, SHIM, 300, 5005],
    [301, 300, 300, 5040],
  );
  const first = firstProcesses(before, 4990);
  assert.deepEqual(pids(first), [200, 300]);
  // 200 was ended: its children are now the init's; one has started another since.
  const after = processes(
    INIT,
    WORKER,
    [201, 100, 200, 5010],
    [202, 100, 202, 5020],
    [203, 202, 202, 5030],
    [204, 201, 200, 6000],
    [300, SHIM, 300, 5005],
    [301, 300, 300, 5040],
  );
  const ended = endedOf(first, after);
  assert.deepEqual(pids(ended), [200]);
  assert.deepEqual(pids(leftoversOf(ended, before, after)), [201, 202, 203, 204]);
});

test('a pid that another process has now is not the one that was seen', () => {
  const before = processes(INIT, [200, SHIM, 200, 5000], [202, 200, 202, 5020]);
  const after = processes(INIT, [200, 100, 100, 9000], [202, 100, 100, 9100]);
  const ended = endedOf(firstProcesses(before, 4990), after);
  assert.deepEqual(pids(ended), [200]);
  assert.deepEqual(leftoversOf(ended, before, after), []);
});

test('while the command runs, nothing of it is left over', () => {
  const now = processes(INIT, [200, SHIM, 200, 5000]);
  assert.deepEqual(endedOf(firstProcesses(now, 4990), now), []);
  assert.deepEqual(leftoversOf([], now, now), []);
});

test('numbers that were used again make no endless family', () => {
  const seen = processes([200, SHIM, 200, 5000], [201, 200, 200, 5010], [200, 201, 200, 6000], [201, 200, 200, 6010]);
  assert.deepEqual(pids(leftoversOf(seen.slice(0, 1), seen, seen.slice(2))), [200, 201]);
});
