/** The life of one static pod on a simulated node: it starts, its container fails and is started again, its manifest goes. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SimulatedNode } from './simulated-node.ts';

export const podManifest = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'example.test/image:1',
        resources: { requests: { cpu: '500m', memory: '64Mi' } },
        volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
      },
    ],
    volumes: [{ name: 'scratch', emptyDir: {} }],
  },
});

export async function livePodLife(node: SimulatedNode, pod: string): Promise<void> {
  const { runtime, host, directory } = node;
  // Static pods carry the name of their node.
  const name = `${pod}-${node.name}`;
  const podDirectories = () => readdirSync(join(directory, 'root/pods'));
  const podCgroups = () => host.cgroups.paths().filter((path) => /\/burstable\/pod[^/]+$/.test(path));

  await node.writeManifest(pod, podManifest(pod));
  await node.until('running', () => runtime.runningOf(name, 'main') !== undefined);
  const [uid = ''] = podDirectories();
  assert.ok(existsSync(join(directory, 'root/pods', uid, 'volumes/kubernetes.io~empty-dir/scratch')));
  assert.deepEqual(podCgroups(), [`/kubepods/burstable/pod${uid}`]);
  assert.equal(host.cgroups.valueOf(`/kubepods/burstable/pod${uid}`, 'cpu.weight'), '20');

  const failedAt = node.clock.now();
  runtime.exit(runtime.runningOf(name, 'main') ?? '', 1);
  await node.until('started again', () => runtime.picture().includes(`${name}/main#1 1`));
  runtime.exit(runtime.runningOf(name, 'main') ?? '', 1);
  await node.until('started a third time', () => runtime.picture().includes(`${name}/main#2 1`));
  assert.ok(node.clock.now() - failedAt >= 10_000, 'the second restart waits for the back-off');

  await node.removeManifest(pod);
  await node.until('gone', () => runtime.picture().length === 0 && podDirectories().length === 0);
  await node.until('without a cgroup', () => podCgroups().length === 0);
}
