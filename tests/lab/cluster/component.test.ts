import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startPart } from '../../../tools/machine/part.ts';
import { type Component, createComponent } from './component.ts';

describe('the handle of a component', () => {
  let directory: string;
  const started: Component[] = [];
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'component-'));
  });
  after(async () => {
    for (const component of started) if (component.isRunning()) await component.kill();
    await rm(directory, { recursive: true });
  });

  /** A shell script as the program; it is healthy once it has made the file `$READY`. */
  const component = (name: string, script: string): Component => {
    const ready = join(directory, `${name}.ready`);
    const made = createComponent({
      name: 'etcd',
      launch: async () => {
        await rm(ready, { force: true });
        const env = { ...process.env, READY: ready };
        return startPart({ name, argv: ['sh', '-c', script], env, logFile: join(directory, `${name}.log`) });
      },
      isHealthy: () => Promise.resolve(existsSync(ready)),
    });
    started.push(made);
    return made;
  };
  const SERVES = 'touch $READY; exec sleep 60';

  test('starts, stops and starts again with a new pid', async () => {
    const part = component('serves', SERVES);
    assert.equal(part.isRunning(), false);
    await part.start();
    const { pid } = part;
    await assert.rejects(part.start(), new RegExp(`etcd runs already \\(pid ${pid}\\)`));
    await part.restart();
    assert.notEqual(part.pid, pid);
    assert.deepEqual(await part.stop(), { code: null, signal: 'SIGTERM' });
    assert.equal(part.isRunning(), false);
  });

  test('is killed at once', async () => {
    const part = component('killed', SERVES);
    await part.start();
    assert.deepEqual(await part.kill(), { code: null, signal: 'SIGKILL' });
  });

  test('is frozen and resumed, and a frozen one can be stopped', async () => {
    const part = component('frozen', SERVES);
    await part.start();
    // The signal is on its way when the call returns; the process stops a moment later.
    const untilStopped = async (wanted: boolean) => {
      const deadline = performance.now() + 120_000;
      for (;;) {
        const isStopped = /\) T /.test(await readFile(`/proc/${part.pid}/stat`, 'utf8'));
        if (isStopped === wanted) return;
        assert.ok(performance.now() < deadline, `it is ${isStopped ? 'still' : 'not'} stopped`);
        await delay(5);
      }
    };
    part.freeze();
    await untilStopped(true);
    part.resume();
    await untilStopped(false);
    part.freeze();
    assert.deepEqual(await part.stop(), { code: null, signal: 'SIGTERM' });
  });

  test('says why it did not become healthy, with its last words', async () => {
    const part = component('ends', 'echo no such disk; exit 3');
    await assert.rejects(part.start(), /etcd ended \(exit code 3\) before it was healthy:\nno such disk/);
  });

  test('has no pid before it was started', () => {
    assert.throws(() => component('idle', SERVES).pid, /etcd was not started/);
  });
});
