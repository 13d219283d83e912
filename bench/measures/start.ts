/** How long a kubelet with nothing to do takes to say that it is healthy. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeMeasure } from '../measure.ts';
import { median } from '../statistics.ts';
import type { BenchNode } from '../world/node.ts';

const STARTS = 5;

export const start = nodeMeasure({
  name: 'start',
  about: 'from the start of the process to the first good answer of /healthz, nothing to run',
  needs: 'health',
  figures: { healthy: { text: 'exec to healthy', unit: 'ms' } },
  run: async (kubelet, { size }) => {
    // The first start makes directories and keys and warms the disk cache; it is no start like the others.
    await kubelet.start();
    await kubelet.stop();
    const times: number[] = [];
    for (let left = size.times(STARTS); left > 0; left -= 1) {
      times.push(await kubelet.start());
      await kubelet.stop();
    }
    return { healthy: median(times) };
  },
  floor: async (world) => ({ healthy: await timeWebServer(world) }),
});

/** A web server that is nothing else, started the same way: what the way itself takes. */
async function timeWebServer({ node, size }: BenchNode): Promise<number> {
  const directory = join(node.world.directory, 'web-server');
  const binary = join(directory, 'start');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'healthz'), 'ok');
  await writeFile(binary, `#!/bin/sh\nexec /bin/busybox httpd -f -p 127.0.0.1:10248 -h ${directory}\n`, {
    mode: 0o755,
  });
  const times: number[] = [];
  for (let left = size.times(STARTS); left > 0; left -= 1) {
    const from = performance.now();
    await node.kubelet.start({ binary, flags: [], config: {} });
    times.push(performance.now() - from);
    await node.kubelet.stop();
  }
  return median(times);
}
