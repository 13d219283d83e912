/** A file system below one pod's volume hangs: what other pods notice of it. */
import { unlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Part } from '../../tools/machine/part.ts';
import { nodeMeasure } from '../measure.ts';
import { median } from '../statistics.ts';
import type { BenchNode } from '../world/node.ts';
import { podSpec, runStaticPods } from '../world/static-pods.ts';

const ROUNDS = 15;
const FUSE_SERVER = join(import.meta.dirname, '..', '..', 'tests', 'node', 'fuse-main.ts');
const MOUNTED_WITHIN_MS = 120_000;
/** What the machine has to do for the pod that hangs is done then. */
const SETTLE_MS = 1000;

export const hungMount = nodeMeasure({
  name: 'hung-mount',
  about: 'static pods one at a time, in turns alone and beside a pod whose hostPath is on a file system that hangs',
  needs: 'pods',
  mostRounds: 1,
  figures: {
    upAlone: { text: 'file to first log line, alone', unit: 'ms' },
    upBeside: { text: 'file to first log line, beside one that hangs', unit: 'ms' },
    goneAlone: { text: 'file removed to gone, alone', unit: 'ms' },
    goneBeside: { text: 'file removed to gone, beside one that hangs', unit: 'ms' },
  },
  run: async (kubelet, world) => {
    const far = join(world.node.world.directory, `far-${world.podName()}`);
    const server = await serveFiles(world, far);
    try {
      await kubelet.start();
      await live(world); // not counted: what is done once
      const alone: Life[] = [];
      const beside: Life[] = [];
      for (let left = world.size.times(ROUNDS); left > 0; left -= 1) {
        alone.push(await live(world));
        server.kill('SIGSTOP');
        const file = await hang(world, far);
        await delay(world.size.period(SETTLE_MS));
        beside.push(await live(world));
        unlinkSync(file);
        server.kill('SIGCONT');
        await delay(world.size.period(SETTLE_MS));
      }
      return {
        ...{ upAlone: median(alone.map(({ up }) => up)), upBeside: median(beside.map(({ up }) => up)) },
        ...{ goneAlone: median(alone.map(({ gone }) => gone)), goneBeside: median(beside.map(({ gone }) => gone)) },
      };
    } finally {
      server.kill('SIGKILL');
      await world.node.exec(['umount', '-l', far]);
    }
  },
});

interface Life {
  readonly up: number;
  readonly gone: number;
}

async function serveFiles({ node }: BenchNode, directory: string): Promise<Part> {
  await mkdir(directory);
  const argv = [process.execPath, '--disable-warning=ExperimentalWarning', FUSE_SERVER, directory];
  const server = await node.start({ name: 'fuse', argv });
  await server.waitForLog(/mounted/, MOUNTED_WITHIN_MS);
  return server;
}

/** A pod of its own volumes, from its file to its end. */
async function live(world: BenchNode): Promise<Life> {
  const volumeMounts = ['memory', 'disk'].map((name) => ({ name, mountPath: `/${name}` }));
  const volumes = [
    { name: 'memory', emptyDir: { medium: 'Memory' } },
    { name: 'disk', emptyDir: {} },
  ];
  const pod = await runStaticPods(world, 1, { ...podSpec({ volumeMounts }), volumes });
  return { up: pod.upAfter[0] ?? Number.NaN, gone: await pod.drain() };
}

/** A pod whose volume does not answer any more. Answers its file. */
async function hang(world: BenchNode, path: string): Promise<string> {
  const name = world.podName();
  const volumeMounts = [{ name: 'far', mountPath: '/far' }];
  const spec = { ...podSpec({ volumeMounts }), volumes: [{ name: 'far', hostPath: { path, type: 'Directory' } }] };
  const file = join(world.node.manifestsDirectory, `${name}.yaml`);
  await writeFile(file, stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }));
  return file;
}
