import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContainerId, podUid, type SandboxId } from '../api/ids.ts';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import type { ObservedContainer } from '../model/observation.ts';
import { createCpuReconcile } from './cpu-reconcile.ts';
import { podOf } from './managers-testing.ts';

const running: ObservedContainer = {
  id: 'container' as ContainerId,
  sandboxId: 'sandbox' as SandboxId,
  name: 'c1',
  state: 'running',
  ...{ createdAt: 0, startedAt: 0, finishedAt: 0, exitCode: 0, reason: '', message: '', hash: '', restartCount: 0 },
  ...{ image: '', imageId: '', imageRef: '', annotations: {}, logPath: '', user: undefined, stopSignal: '' },
};

test('containers follow the shared CPUs: at once, again where the runtime failed, and after the loop has failed', async () => {
  const clock = createSystemClock();
  const stopping = new AbortController();
  const pod = podOf({ uid: 'a', c: [{ n: 'c1' }] });
  const uid = podUid('a');
  const base = { uid, name: 'a', namespace: 'default', takenAt: 0, sandboxes: [] };
  let shared = new Set([0, 1]);
  const updates: string[] = [];
  const twice = Promise.withResolvers<void>();
  const reconcile = createCpuReconcile(
    {
      clock,
      log: createSilentLogger(),
      supervisor: createTestSupervisor(clock, { beforeRound: throwOnce('cpu manager') }),
      cpus: { affinity: () => shared, exclusive: () => new Set(), awaitsAdoption: () => false, adopt: () => undefined },
      views: () => [{ uid, pod, step: 'syncing', observation: { ...base, containers: [running] } }],
      liveCpus: () => new Set([0, 1]),
      update: (id, cpus) => {
        updates.push(`${id} ${cpus}`);
        if (updates.length === 1) return Promise.reject(new Error('the runtime is gone'));
        twice.resolve();
        return Promise.resolve();
      },
    },
    20,
  );
  const ended = reconcile.run(stopping.signal);
  shared = new Set([0]);
  reconcile.wake();
  await twice.promise;
  assert.deepEqual(updates.slice(0, 2), ['container 0', 'container 0']);
  stopping.abort(new Error('over'));
  await ended.catch(() => undefined);
});
