import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CGROUP_V2, startKubelet } from './kubelet.ts';

describe('where a value comes from', () => {
  it('is defaults, then the file, then drop-ins in order, then flags', async () => {
    await using kubelet = await startKubelet({
      config: { maxPods: 1, podsPerCore: 1, eventBurst: 1, evictionHard: { 'memory.available': '1Mi' } },
      dropins: {
        '20-second.conf': { podsPerCore: 3, eventBurst: 3 },
        '10-first.conf': { podsPerCore: 2, eventBurst: 2, evictionHard: { 'nodefs.available': '2%' } },
        '30-ignored.yaml': { eventBurst: 99 },
      },
      flags: ['--event-burst=4', '--sync_frequency', '90s'],
    });
    await kubelet.up();
    const { maxPods, podsPerCore, eventBurst, syncFrequency, registryBurst, evictionHard } = await kubelet.configz();
    assert.deepEqual(
      { maxPods, podsPerCore, eventBurst, syncFrequency, registryBurst },
      {
        maxPods: 1,
        podsPerCore: 3,
        eventBurst: 4,
        syncFrequency: '1m30s',
        registryBurst: 10,
      },
    );
    assert.deepEqual(evictionHard, { 'memory.available': '1Mi', 'nodefs.available': '2%' });
  });

  it('has the older open defaults without --config, on loopback, and says so; strangers stay out of a node without a cluster', async () => {
    // There is no flag for failCgroupV1, so the kubelet sees a machine with cgroup v2.
    await using kubelet = await startKubelet({
      config: null,
      prepare: CGROUP_V2,
      flags: ['--fail-swap-on=false', '--oom-score-adj=0'],
    });
    await kubelet.up();
    const { authentication, authorization, readOnlyPort } = await kubelet.configz();
    const { anonymous, webhook } = authentication as Record<string, { enabled: boolean }>;
    assert.deepEqual([anonymous?.enabled, webhook?.enabled, readOnlyPort], [true, false, 10255]);
    assert.equal((authorization as { mode: string }).mode, 'AlwaysAllow');
    await kubelet.waitForLog(/W.*listening on 127\.0\.0\.1 only: port 10255/);
    await kubelet.waitForLog(new RegExp(`"Starting to listen" address="127.0.0.1" port=${kubelet.serverPort}`));
  });

  it('warns of unknown fields and of old names, and goes on', async () => {
    await using kubelet = await startKubelet({ config: { maxPodz: 3, manifestURL: 'http://127.0.0.1:1/' } });
    await kubelet.up();
    await kubelet.waitForLog(/W.*kubelet\.yaml:\d+.*maxPodz.*maxPods/);
    await kubelet.waitForLog(/W.*manifestURL.*staticPodURL/);
    assert.equal((await kubelet.configz())['staticPodURL'], 'http://127.0.0.1:1/');
  });
});
