/** A second machine under the name of a node: its own runtime, its own kubelet, its own identity, the same credentials. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createContainerd } from '../../tools/machine/containerd.ts';
import { createKubelet } from '../../tools/machine/kubelet.ts';
import { writeArchive } from '../../tools/machine/oci/image.ts';
import type { World } from '../../tools/machine/world.ts';
import type { Cluster } from '../lab/cluster/cluster.ts';
import { createSupplies } from '../lab/supplies.ts';

export interface Twin extends AsyncDisposable {
  readonly machineId: string;
  log(): Promise<string>;
}

/** `binary` undefined: the same program as the node's. */
export async function startTwin(cluster: Cluster, name: string, binary = cluster.node.kubelet.binary): Promise<Twin> {
  const { node } = cluster;
  const world = worldOfTwin(node.world, name);
  const supplies = createSupplies(process.env);
  const binaries = await supplies.runtime('containerd-2.4');
  // The same network would give out the same addresses.
  const containerd = await createContainerd({ world, binaries, podSubnet: '10.99.0.0/16' });
  await containerd.start();
  const archive = join(world.directory, 'images.tar');
  await writeFile(archive, writeArchive(await supplies.images()));
  const { code, stderr } = await containerd.ctr('images', 'import', archive);
  if (code !== 0) throw new Error(`images of ${name}: ${stderr}`);
  const machineId = `machine-of-${name}`;
  const identity = join(world.directory, 'machine-id');
  await writeFile(identity, `${machineId}\n`);
  const kubelet = await createKubelet(
    {
      world,
      gate: node.gate,
      runtimeEndpoint: containerd.endpoint,
      nodeName: node.nodeName,
      manifestsDirectory: join(world.directory, 'manifests'),
    },
    { binary },
  );
  const { flags = [], config } = cluster.kubeletSettings;
  await kubelet.start({
    config: {
      ...config,
      // What two machines would have twice, and one has only once.
      port: 20_250,
      healthzPort: 20_248,
      cgroupsPerQOS: false,
      enforceNodeAllocatable: [],
      podLogsDir: join(world.directory, 'pod-logs'),
    },
    flags: [...flags, `--root-dir=${join(world.directory, 'kubelet')}`, `--machine-id-file=${identity}`],
  });
  const log = () => readFile(join(node.world.logsDirectory, `${name}-kubelet.log`), 'utf8');
  while (!(await log()).includes('Node was previously registered')) {
    if (!kubelet.isRunning()) throw new Error(`${name} has ended:\n${kubelet.logTail()}`);
    await delay(100);
  }
  return {
    machineId,
    log,
    [Symbol.asyncDispose]: async () => {
      await kubelet.stop();
      await containerd.stop();
    },
  };
}

function worldOfTwin(world: World, name: string): World {
  return {
    ...world,
    directory: join(world.directory, name),
    start: async (options) => {
      await mkdir(join(world.directory, name), { recursive: true });
      return await world.start({ ...options, name: `${name}-${options.name}` });
    },
  };
}
