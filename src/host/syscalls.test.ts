import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

/** Megabytes that a process holds with much freed below what is still in use: before and after it gave memory back. */
const PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { createSyscalls } from ${JSON.stringify(join(import.meta.dirname, 'syscalls.ts'))};
  const resident = () => Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
  const { giveBackMemory } = createSyscalls();
  let freed = Array.from({ length: 100_000 }, () => Buffer.allocUnsafeSlow(1000));
  const last = Array.from({ length: 100 }, () => Buffer.allocUnsafeSlow(1000));
  freed = undefined;
  gc();
  gc();
  const before = resident();
  giveBackMemory();
  console.log(JSON.stringify([before, resident(), last.length]));`;

test('the C library gives back what was freed below something that is still in use', () => {
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', PROGRAM];
  const [before, after] = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
  assert.ok(before - after > 40, `${before} MB became ${after} MB`);
});
