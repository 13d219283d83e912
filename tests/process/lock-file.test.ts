import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort, startKubelet, temporaryDirectory } from './kubelet.ts';

describe('lock file', () => {
  let directory: string;
  before(() => {
    directory = temporaryDirectory();
  });
  after(() => rmSync(directory, { recursive: true }));

  it('is a lock that flock(1) sees while the kubelet lives, also after kill -9', async () => {
    const lock = join(directory, 'seen');
    await using kubelet = await startKubelet({ flags: ['--lock-file', lock] });
    await kubelet.up();
    assert.equal(spawnSync('flock', ['--nonblock', lock, 'true']).status, 1);
    kubelet.signal('SIGKILL');
    await kubelet.exited;
    assert.equal(spawnSync('flock', ['--nonblock', lock, 'true']).status, 0);
  });

  it('makes the kubelet wait for flock(1), and go on when that ends', async () => {
    const lock = join(directory, 'held');
    const holder = spawn('flock', ['--no-fork', lock, 'sh', '-c', 'echo held; exec sleep 600']);
    await once(holder.stdout, 'data');
    await using kubelet = await startKubelet({ flags: ['--lock-file', lock] });
    await kubelet.waitForLog(/"Waiting for the lock file, another process holds it"/);
    await assert.rejects(kubelet.get('/healthz/ping'), 'nothing is served before the lock is held');
    holder.kill('SIGKILL');
    await kubelet.up();
  });

  it('without --exit-on-lock-contention is kept against a second kubelet', async () => {
    const lock = join(directory, 'kept');
    await using first = await startKubelet({ flags: ['--lock-file', lock] });
    await first.up();
    await using second = await startKubelet({ flags: ['--lock-file', lock] });
    await second.waitForLog(/Waiting for the lock file/);
    assert.equal((await first.get('/healthz/ping')).status, 200);
    first.signal('SIGTERM');
    await second.up();
  });

  it('with --exit-on-lock-contention is handed over to a second kubelet, the ports with it', async () => {
    const flags = ['--lock-file', join(directory, 'handed-over'), '--exit-on-lock-contention'];
    const healthzPort = await freePort();
    await using first = await startKubelet({ flags, healthzPort });
    await first.up();
    await using second = await startKubelet({ flags, healthzPort });
    const { code } = await first.exited;
    assert.equal(code, 0, first.log());
    assert.match(first.log(), /"Kubelet is stopping" reason="lock file .*handed-over was opened by another process"/);
    await second.up();
  });

  for (const [what, act] of [
    ['any other process opens the file', (lock: string) => void readFileSync(lock)],
    ['the file is deleted', (lock: string) => rmSync(lock)],
  ] as const) {
    it(`with --exit-on-lock-contention ends the kubelet when ${what}`, async () => {
      const lock = join(directory, 'watched');
      await using kubelet = await startKubelet({ flags: ['--lock-file', lock, '--exit-on-lock-contention'] });
      await kubelet.up();
      const asked = performance.now();
      act(lock);
      assert.equal((await kubelet.exited).code, 0);
      assert.ok(performance.now() - asked < 60_000);
    });
  }

  it('that cannot be made is a clear error', async () => {
    await using kubelet = await startKubelet({ flags: ['--lock-file', '/nowhere/lock'] });
    assert.equal((await kubelet.exited).code, 1);
    assert.match(
      kubelet.log(),
      /E.*"Kubelet failed to start" err="unable to acquire file lock on \\"\/nowhere\/lock\\" \(--lock-file\)/,
    );
  });
});
