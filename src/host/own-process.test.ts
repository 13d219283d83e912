import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { readOwnProcess } from './own-process.ts';

it('reads this process as the kernel has it', () => {
  const use = readOwnProcess();
  const memory = process.memoryUsage();
  assert.ok(Math.abs(use.residentBytes - memory.rss) < memory.rss / 2, `${use.residentBytes} is not ${memory.rss}`);
  assert.ok(use.cpuSeconds > 0 && use.virtualBytes > use.residentBytes && use.openFiles > 3);
  assert.ok(use.openFilesLimit >= use.openFiles);
  const upSeconds = Temporal.Now.instant().epochMilliseconds / 1000 - use.startedAtSeconds;
  assert.ok(Math.abs(upSeconds - process.uptime()) < 5, `up for ${upSeconds} s, Node says ${process.uptime()}`);
});

it('is not confused by the name of the program, and takes a missing limit for none', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'proc-'));
  t.after(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, 'self/fd'), { recursive: true });
  mkdirSync(join(directory, 'self/net'));
  const fields = Array.from({ length: 50 }, (_, at) => String(at + 3));
  writeFileSync(join(directory, 'self/stat'), `7 (a) 1 2 (b) S ${fields.slice(1).join(' ')}`);
  writeFileSync(
    join(directory, 'self/limits'),
    'Limit  Soft  Hard\nMax open files            20000   20000   files\nMax address space   unlimited  unlimited bytes\n',
  );
  writeFileSync(
    join(directory, 'self/net/netstat'),
    'TcpExt: A\nTcpExt: 1\nIpExt: InNoRoutes InOctets OutOctets\nIpExt: 0 12 34\n',
  );
  writeFileSync(join(directory, 'stat'), 'cpu 1\nbtime 1000\n');
  assert.deepEqual(readOwnProcess(directory), {
    cpuSeconds: 0.29,
    residentBytes: 24 * 4096,
    virtualBytes: 23,
    virtualLimitBytes: Number.POSITIVE_INFINITY,
    openFiles: 0,
    openFilesLimit: 20_000,
    startedAtSeconds: 1000.22,
    bootedAtSeconds: 1000,
    receivedBytes: 12,
    sentBytes: 34,
  });
});
