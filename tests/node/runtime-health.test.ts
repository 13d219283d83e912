import { describe, it } from 'node:test';
import { lab } from '../lab/lab.ts';

describe('health of the kubelet on a real runtime', () => {
  for (const runtime of ['containerd-2.4', 'containerd-1.6'] as const) {
    it(`follows ${runtime} through a crash, a hang and back`, async (t) => {
      await using node = await lab.node({ test: t, runtime, kubelet: 'ours' });
      const statusOf = async () => (await node.kubelet.healthz('/healthz')).status;
      const until = async (status: number) => {
        while ((await statusOf()) !== status) await new Promise((next) => setTimeout(next, 20));
      };
      await until(200);
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
