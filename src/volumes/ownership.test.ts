import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../api/pod.ts';
import { createSystemClock } from '../base/clock.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { createTestSupervisor, throwOnce } from '../base/supervise-testing.ts';
import { createFileCalls } from '../host/file-calls.ts';
import { createFileJobs, type FileJobs } from '../host/file-jobs.ts';
import { FILE_PROCESS_ARGUMENT } from '../host/file-process-argument.ts';
import { createOwnership } from './ownership.ts';

const never = new AbortController().signal;
const POD = {
  metadata: { name: 'p', namespace: 'd', uid: 'uid-1' },
  spec: { containers: [], securityContext: { fsGroup: 3000 } },
} as unknown as Pod;

test('a pod that waits long for its files hears why, and how far it is', async () => {
  const clock = createManualClock();
  const events: string[] = [];
  let finish: () => void = () => undefined;
  let progress: (files: number) => void = () => undefined;
  const jobs = {
    run: (_: unknown, limits: { onProgress: (files: number) => void }) => {
      progress = limits.onProgress;
      return new Promise((done) => {
        finish = () => done({ files: 5, failed: 0, firstFailure: undefined });
      });
    },
    close: () => undefined,
  } as unknown as FileJobs;
  const give = createOwnership({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    jobs,
    record: ({ reason, message }) => events.push(`${reason}: ${message}`),
  });
  const done = give(
    { pod: POD, directory: '/r/pods/uid-1/volumes/x/v', fsGroup: 3000, readOnly: false, foreign: true },
    never,
  );
  await clock.advance(29_999);
  assert.deepEqual(events, []);
  await clock.advance(1);
  assert.match(
    events[0] ?? '',
    /^VolumePermissionChangeInProgress: Setting volume ownership for uid-1\/volumes\/x\/v is taking longer than expected, consider using OnRootMismatch/,
  );
  progress(123);
  await clock.advance(60_000);
  assert.equal(
    events[1],
    'VolumePermissionChangeInProgress: Setting volume ownership for uid-1/volumes/x/v, processed 123 files.',
  );
  finish();
  await done;
  await clock.advance(200_000);
  assert.equal(events.length, 2);
});

test('volume ownership progress is reported also after its loop has failed', async () => {
  const clock = createManualClock();
  const events: string[] = [];
  const supervisor = createTestSupervisor(clock, { beforeRound: throwOnce('volume ownership progress') });
  const finish = Promise.withResolvers<unknown>();
  const jobs = { run: () => finish.promise, close: () => undefined } as unknown as FileJobs;
  const record = ({ reason }: { readonly reason: string }) => void events.push(reason);
  const give = createOwnership({ clock, supervisor, log: createSilentLogger(), jobs, record });
  const done = give({ pod: POD, directory: '/r/v', fsGroup: 3000, readOnly: false, foreign: true }, never);
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(120_000);
  assert.deepEqual(events, ['VolumePermissionChangeInProgress', 'VolumePermissionChangeInProgress']);
  finish.resolve({ files: 1, failed: 0, firstFailure: undefined });
  await done;
});

test('many files are changed in a process of their own, and no one waits for the event loop', {
  timeout: 120_000,
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ownership-'));
  const main = resolve(import.meta.dirname, '../main.ts');
  const clock = createSystemClock();
  const jobs = createFileJobs({
    clock,
    calls: createFileCalls(),
    program: { path: process.execPath, args: ['--disable-warning=ExperimentalWarning', main, FILE_PROCESS_ARGUMENT] },
  });
  t.after(() => {
    jobs.close();
    rmSync(dir, { recursive: true });
  });
  for (let group = 0; group < 10; group += 1) {
    mkdirSync(join(dir, `g${group}`));
    for (let index = 0; index < 500; index += 1) symlinkSync('x', join(dir, `g${group}/f${index}`));
  }
  writeFileSync(join(dir, 'g9/real'), '', { mode: 0o600 });
  let longest = 0;
  let last = performance.now();
  const beat = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  t.after(() => clearInterval(beat));
  const give = createOwnership({
    clock,
    supervisor: createTestSupervisor(clock),
    log: createSilentLogger(),
    jobs,
    record: () => undefined,
  });
  const cpu = process.cpuUsage();
  await give({ pod: POD, directory: dir, fsGroup: 3000, readOnly: false, foreign: false }, never);
  const own = process.cpuUsage(cpu);
  const found = statSync(join(dir, 'g9/real'));
  assert.deepEqual([found.gid, found.mode & 0o7777], [3000, 0o660]);
  assert.equal(statSync(dir).mode & 0o7777, 0o2770);
  t.diagnostic(`own CPU ${(own.user + own.system) / 1000} ms, longest pause ${longest.toFixed(1)} ms`);
});
