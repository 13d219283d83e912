import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeKubeletMetrics, type MeasuredPod } from './kubelet-metrics.ts';

const measured = (name: string, claim?: string): MeasuredPod => ({
  pod: { uid: `uid-${name}`, name, namespace: 'default' },
  logs: new Map([['c', 4096]]),
  volumes: [
    {
      name: 'v',
      time: 0,
      usedBytes: 7,
      capacityBytes: 10,
      claim: claim === undefined ? undefined : { name: claim, namespace: 'default' },
      isEphemeral: false,
    },
  ],
});

test('logs of containers and volumes of claims have metrics, a shared claim once', () => {
  const families = computeKubeletMetrics([measured('a', 'data'), measured('b', 'data'), measured('d')]);
  const shown = families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, samples }) => [
      name,
      samples.map(({ labels, value }) => `${labels.map(([, text]) => text)} ${value}`),
    ]);
  assert.deepEqual(shown, [
    [
      'kubelet_container_log_filesystem_used_bytes',
      ['a', 'b', 'd'].map((name) => `c,default,${name},uid-${name} 4096`),
    ],
    ['kubelet_volume_stats_capacity_bytes', ['default,data 10']],
    ['kubelet_volume_stats_used_bytes', ['default,data 7']],
  ]);
});
