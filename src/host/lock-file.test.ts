import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { createHost } from './host.ts';

const directory = mkdtempSync(join(tmpdir(), 'lock-'));
const host = createHost();
const clock = createSystemClock();
const never = new AbortController().signal;
const HOUR_MS = 3_600_000;
const noWait = () => assert.fail('the lock was free');

/** A real other process that holds the lock until it is killed. */
async function holdElsewhere(path: string): Promise<ChildProcess> {
  const child = spawn('flock', ['--exclusive', '--no-fork', path, 'sh', '-c', 'echo held; exec sleep 600']);
  await once(child.stdout, 'data');
  return child;
}

async function tryElsewhere(path: string): Promise<boolean> {
  const child = spawn('flock', ['--exclusive', '--nonblock', path, 'true']);
  const [code] = await once(child, 'exit');
  return code === 0;
}

describe('lock file', { timeout: 120_000 }, () => {
  let alive: NodeJS.Timeout;
  before(() => {
    alive = setInterval(() => undefined, 1000);
  });
  after(() => {
    clearInterval(alive);
    host.files.inotify.close();
    rmSync(directory, { recursive: true });
  });

  it('is made with a private mode and locked so that flock(1) sees it, until it is released', async () => {
    const path = join(directory, 'one');
    const lock = await host.own.acquireFileLock(path, clock, never, noWait);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(await tryElsewhere(path), false);
    lock.release();
    assert.equal(await tryElsewhere(path), true);
  });

  it('waits for another process and goes on as soon as that ends', async () => {
    const path = join(directory, 'two');
    const holder = await holdElsewhere(path);
    let waits = 0;
    // The safety net looks so late that only the end of the other process can be what lets it go on.
    const rarely = {
      ...clock,
      sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms < 500 ? ms : HOUR_MS, signal),
    };
    const acquired = host.own.acquireFileLock(path, rarely, never, () => {
      waits += 1;
      holder.kill('SIGKILL');
    });
    await once(holder, 'exit');
    (await acquired).release();
    assert.equal(waits, 1);
  });

  it('stops waiting when it is aborted, and leaves the lock alone', async () => {
    const path = join(directory, 'three');
    const holder = await holdElsewhere(path);
    const stopping = new AbortController();
    const acquired = host.own.acquireFileLock(path, clock, stopping.signal, () => undefined);
    stopping.abort(new Error('asked to stop'));
    await assert.rejects(acquired, /asked to stop/);
    assert.equal(await tryElsewhere(path), false);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
  });

  for (const [what, act, report] of [
    ['opened', (path: string) => void readFileSync(path), 'opened by another process'],
    ['deleted', (path: string) => rmSync(path), 'deleted'],
  ] as const) {
    it(`reports once when the file is ${what}`, async () => {
      const path = join(directory, what);
      const lock = await host.own.acquireFileLock(path, clock, never, noWait);
      const heard: string[] = [];
      const first = new Promise<void>((resolve) => {
        lock.onContention((reason) => {
          heard.push(reason);
          resolve();
        });
      });
      act(path);
      await first;
      if (what === 'opened') readFileSync(path);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.deepEqual(heard, [report]);
      lock.release();
    });
  }

  it('names the flag and the path where the file cannot be made', async () => {
    await assert.rejects(
      host.own.acquireFileLock('/nowhere/lock', clock, never, noWait),
      /unable to acquire file lock on "\/nowhere\/lock" \(--lock-file\): .*ENOENT/,
    );
  });
});
