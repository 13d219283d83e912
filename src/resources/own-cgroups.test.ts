import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { checkOwnCgroups, runOwnCgroups } from './own-cgroups.ts';

test('the kubelet and what has no cgroup of its own are moved, but not process 1 and threads of the kernel', async () => {
  const clock = createManualClock();
  const places = new Map([
    [1, '/'],
    [2, '/'],
    [30, '/'],
    [31, '/a.service'],
    [40, '/user'],
  ]);
  const created: string[] = [];
  const stopping = new AbortController();
  const running = runOwnCgroups(
    {
      clock,
      log: createSilentLogger(),
      // The loop fails first, and goes on after its back-off.
      supervisor: createTestSupervisor(clock, { beforeRound: throwOnce('own cgroups') }),
      pid: 40,
      isKernelThread: (pid) => pid === 2,
      cgroups: {
        create: (path) => void created.push(path),
        processes: async (path) => [...places].filter(([, place]) => place === path).map(([pid]) => pid),
        enter: (path, pid) => {
          if (pid === 30 && places.size === 5) places.set(32, '/'); // a child that was born meanwhile
          places.set(pid, path);
          return true;
        },
      },
    },
    { kubeletCgroups: '/kubelet', systemCgroups: '/system' },
    stopping.signal,
  );
  const until = async (what: () => boolean) => {
    while (!what()) await new Promise(setImmediate);
  };
  await until(() => clock.sleepers() > 0);
  await clock.advance(200);
  await until(() => places.get(40) === '/kubelet');
  assert.deepEqual(created, ['/system', '/kubelet']);
  assert.deepEqual(Object.fromEntries(places), {
    1: '/',
    2: '/',
    30: '/system',
    31: '/a.service',
    32: '/system',
    40: '/kubelet',
  });
  places.set(50, '/');
  clock.advance(60_000);
  await until(() => places.get(50) === '/system');
  stopping.abort(new Error('over'));
  await running;
});

test('the root of all cgroups is no place for the processes of the system', () => {
  assert.throws(() => checkOwnCgroups({ kubeletCgroups: '', systemCgroups: '/' }), /cannot be root/);
});
