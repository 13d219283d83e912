import assert from 'node:assert/strict';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Embedded, embed } from './embedded.ts';
import { temporaryDirectory } from './kubelet.ts';

describe('kubelets inside another program', () => {
  it('live side by side, each with its own configuration, checks and directories', async () => {
    await using one = await embed({ maxPods: 11 });
    await using two = await embed({ maxPods: 22 });
    await Promise.all([one.kubelet.start(), two.kubelet.start()]);
    const maxPods = async ({ ask }: Embedded) => JSON.parse(await ask('/configz')).kubeletconfig.maxPods;
    assert.deepEqual(await Promise.all([maxPods(one), maxPods(two)]), [11, 22]);
    one.kubelet.health.add({ name: 'mine', check: () => 'unwell' });
    assert.match(await one.get('/healthz?verbose'), /\[-\]mine failed/);
    assert.doesNotMatch(await two.get('/healthz?verbose'), /mine/);
    assert.ok(statSync(join(one.directory, 'device-plugins')).isDirectory());
    await one.kubelet.stop();
    assert.equal(await two.get('/healthz/ping'), 'ok');
  });

  it('hand a lock over to each other, as processes do', async () => {
    const dir = temporaryDirectory();
    const flags = [`--lock-file=${join(dir, 'lock')}`, '--exit-on-lock-contention'];
    await using one = await embed({}, flags);
    await one.kubelet.start();
    await using two = await embed({}, flags);
    const started = two.kubelet.start();
    const ending = await one.kubelet.ending;
    assert.equal(ending.kind, 'handover');
    await one.kubelet.stop();
    await started;
    assert.equal(await two.get('/healthz/ping'), 'ok');
    rmSync(dir, { recursive: true });
  });

  it('can be stopped before they are started, while they start, and twice', async () => {
    await using never = await embed();
    assert.deepEqual(await never.kubelet.stop(), { failed: [], unfinished: [] });
    await assert.rejects(never.kubelet.start(), /stopping/);
    await using hasty = await embed();
    const started = hasty.kubelet.start().catch((error) => String(error));
    assert.deepEqual(await hasty.kubelet.stop(), { failed: [], unfinished: [] });
    await hasty.kubelet.stop();
    await started;
    await assert.rejects(hasty.get('/healthz'));
  });

  it('report what keeps them from starting and leave nothing open', async () => {
    await using broken = await embed({ podLogsDir: '/dev/null/logs' });
    await assert.rejects(broken.kubelet.start(), /cannot use \/dev\/null\/logs as pod log directory/);
    await assert.rejects(broken.get('/healthz'));
  });
});
