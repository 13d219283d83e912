import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lab } from '../lab/lab.ts';
import { kubeletClient } from './streams-support.ts';

describe('health of the kubelet on a real runtime', () => {
  for (const runtime of ['containerd-2.4', 'containerd-1.6'] as const) {
    it(`follows ${runtime} through a crash, a hang and back`, async (t) => {
      await using node = await lab.node({ test: t, runtime, kubelet: 'ours' });
      const statusOf = async () => (await node.kubelet.healthz('/healthz')).status;
      const until = async (status: number) => {
        while ((await statusOf()) !== status) await new Promise((next) => setTimeout(next, 20));
      };
      await until(200);
      // 1.6 can't say which cgroup driver it uses, which kubelets will want to know.
      const page = (await kubeletClient(node).request('/metrics')).text();
      const isLosing = /^kubelet_cri_losing_support\{version="1\.37\.0"\} 1$/m.test(page);
      assert.equal(isLosing, runtime === 'containerd-1.6');
      node.containerd.kill('SIGKILL');
      await until(500);
      // Our news of its end may be older than the lab's.
      while (node.containerd.isRunning()) await new Promise((next) => setTimeout(next, 5));
      await node.containerd.start();
      await until(200);
      node.containerd.kill('SIGSTOP');
      await until(500);
      node.containerd.kill('SIGCONT');
      await until(200);
    });
  }
});
