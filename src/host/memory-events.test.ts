import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { readCgroupMounts } from './cgroup-mounts.ts';
import { createReadiness } from './event-loop.ts';
import { createMemoryEvents } from './memory-events.ts';
import { createSyscalls } from './syscalls.ts';

const MI = 1 << 20;
const memory = readCgroupMounts().find(({ version, controllers }) => version === 1 && controllers.includes('memory'));
const events = createMemoryEvents(createSyscalls(), createReadiness());

test('a cgroup that is missing is an error, and leaves no descriptor', () => {
  assert.throws(() => events.watch('/sys/fs/cgroup/missing', MI, () => undefined), { code: 'ENOENT' });
});

const skip = memory === undefined || process.geteuid?.() !== 0 ? 'needs root and cgroup v1' : false;
test('a process that crosses the threshold is noticed, and closing ends it', { skip }, async () => {
  const directory = join(memory?.mountPoint ?? '', `memory-events-${process.pid}`);
  mkdirSync(directory);
  let crossings = 0;
  const watch = events.watch(directory, 64 * MI, () => {
    crossings += 1;
  });
  const hog = spawn(process.execPath, ['-e', 'process.stdin.once("data",()=>{global.x=Buffer.alloc(2**27,1)})'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => hog.once('exit', resolve));
  // The event loop does not wait for the descriptor alone.
  const alive = setInterval(() => undefined, 1000);
  try {
    writeFileSync(join(directory, 'cgroup.procs'), `${hog.pid}`);
    assert.equal(crossings, 0);
    hog.stdin?.write('now');
    for (let step = 0; step < 600 && crossings === 0; step += 1) await delay(50);
    assert.ok(crossings > 0);
  } finally {
    hog.kill('SIGKILL');
    await ended;
    watch.close();
    clearInterval(alive);
    for (let step = 0; step < 100; step += 1) {
      try {
        rmdirSync(directory);
        break;
      } catch {
        await delay(50); // the kernel counts the process for a moment longer
      }
    }
  }
});
