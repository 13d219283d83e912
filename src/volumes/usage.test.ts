import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import type { Volume } from '../api/volume.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor } from '../base/supervise-testing.ts';
import { createFileCalls } from '../host/file-calls.ts';
import { createFileJobs } from '../host/file-jobs.ts';
import { readMountTable } from '../host/mount-table.ts';
import { createOperations } from './operations.ts';
import { createUsage } from './usage.ts';
import type { VolumeTask } from './volume.ts';

test('volumes are measured soon after they are there, then once in a period; those over their limit are reported', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'usage-'));
  const stop = new AbortController();
  t.after(() => {
    stop.abort('done');
    rmSync(root, { recursive: true });
  });
  const clock = createManualClock();
  const jobs = createFileJobs({ clock, calls: createFileCalls(), program: undefined });
  const uid = podUid('u');
  const task = (name: string, volume: Partial<Volume>, plugin = 'kubernetes.io/empty-dir') => {
    const path = join(root, name);
    mkdirSync(path, { recursive: true });
    return {
      volume: { name, ...volume },
      resolved: () => ({ kind: { plugin } }),
      ready: () => ({ path }),
      readySince: () => 0,
    } as unknown as VolumeTask;
  };
  const tasks = [
    task('small', { emptyDir: { sizeLimit: '1Mi' } }),
    task('large', { emptyDir: { sizeLimit: '64Ki' } }),
    task('free', { emptyDir: {} }),
    task('path', { hostPath: { path: '/' } }, 'kubernetes.io/host-path'),
  ];
  for (const name of ['small', 'large', 'free']) writeFileSync(join(root, name, 'f'), Buffer.alloc(128 * 1024, 1));
  const volumes = () => tasks.map((one) => ({ uid, task: one }));
  let reads = 0;
  const operations: string[] = [];
  const usage = createUsage(
    {
      clock,
      supervisor: createTestSupervisor(clock),
      log: createSilentLogger(),
      jobs,
      mountTable: (about) => {
        reads += 1;
        return readMountTable(about);
      },
      volumes,
      operations: createOperations(clock, ({ operation, failed }) => operations.push(`${operation} ${failed}`)),
    },
    { usagePeriodMs: 60_000 },
  );
  usage.start(stop.signal);
  usage.noticed();
  assert.deepEqual(usage.of(uid), []);
  const settle = async () => {
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  await clock.advance(6000);
  await settle();
  assert.deepEqual(
    usage.of(uid).map(({ volume, inodesUsed, limitBytes }) => [volume, inodesUsed, limitBytes]),
    [
      ['small', 2, 1024 * 1024],
      ['large', 2, 64 * 1024],
      ['free', 2, undefined],
    ],
  );
  assert.deepEqual(operations, ['measure false', 'measure false', 'measure false']);
  assert.equal(reads, 1, 'the mount table is read once for all of them');
  const [first] = usage.of(uid);
  assert.ok((first?.usedBytes ?? 0) >= 128 * 1024 && (first?.capacityBytes ?? 0) > 0);
  writeFileSync(join(root, 'small/g'), Buffer.alloc(2 * 1024 * 1024, 1));
  await clock.advance(30_000);
  await settle();
  assert.deepEqual(usage.of(uid)[0], first, 'not measured again yet');
  await clock.advance(31_000);
  await settle();
  assert.ok((usage.of(uid)[0]?.usedBytes ?? 0) >= 2 * 1024 * 1024);
  usage.forget(uid);
  assert.deepEqual(usage.of(uid), []);
});
