import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { pid } from 'node:process';
import { test } from 'node:test';
import { createProcesses, isKernelThread, ownPid, parseStat } from './processes.ts';

test('a line of /proc/PID/stat, with a name that tries to mislead', () => {
  const rest = Array.from({ length: 40 }, (_, index) => index).join(' ');
  // After the name: state, parent, group, session … start time is the 22nd field of all.
  const stat = `77 (a) b (c)) S 5 6 7 ${rest}`;
  assert.deepEqual(parseStat(stat), { pid: 77, parent: 5, session: 7, startedAt: 150 });
  for (const bad of ['', 'nonsense', '1 (x) S', '1 (x) S a b c']) assert.equal(parseStat(bad), undefined, bad);
});

test('a real process is found by its cgroup and ended, but only if it is the one meant', async (t) => {
  const processes = createProcesses();
  const before = processes.uptime();
  const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const path = readFileSync(`/proc/${child.pid}/cgroup`, 'utf8').split('\n')[0] ?? '';
  const found = processes.inCgroup(path).find(({ pid }) => pid === child.pid);
  assert.ok(found !== undefined);
  assert.equal(found.parent, pid);
  assert.equal(found.session, child.pid);
  assert.ok(found.startedAt >= before - 20 && found.startedAt <= processes.uptime() + 20, `${found.startedAt}`);
  assert.deepEqual(processes.commandOf(found.pid), ['sleep', '1000']);

  processes.kill({ ...found, startedAt: found.startedAt - 10 });
  assert.equal(child.exitCode ?? child.signalCode, null);
  assert.ok(processes.inCgroup(path).some(({ pid }) => pid === child.pid));
  processes.kill(found);
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  processes.kill(found);
  assert.equal(processes.commandOf(found.pid), undefined);
  assert.deepEqual(processes.inCgroup('/no/such/cgroup/anywhere'), []);
});

test('threads of the kernel run no program', () => {
  assert.equal(isKernelThread(pid), false);
  assert.equal(ownPid(), pid);
  assert.equal(isKernelThread(2 ** 22 + 1), false, 'one that is not there');
  const threads = readdirSync('/proc').filter((name) => {
    const stat =
      /^\d+$/.test(name) && existsSync(`/proc/${name}/stat`) ? readFileSync(`/proc/${name}/stat`, 'utf8') : '';
    return / \(kthreadd\) /.test(stat);
  });
  for (const name of threads) assert.equal(isKernelThread(Number(name)), true);
});
