/** Records anew what the reference kubelet does with the cgroup driver systemd: `node tests/recorded/systemd/main.ts v1.json`. */
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createSystemNode } from '../../lab/system/node.ts';
import { RECORDED_CONFIG, RECORDED_PODS, RESERVED_SCRIPT, RESERVED_SLICES, RESERVED_UNITS, readTree } from './node.ts';

const [output = 'v1.json', kubelet = 'reference'] = process.argv.slice(2);
await using node = await createSystemNode(process.env, {
  kubelet: kubelet === 'ours' ? 'ours' : 'reference',
  cgroupDriver: 'systemd',
  config: RECORDED_CONFIG,
  etc: RESERVED_UNITS,
  units: RESERVED_SLICES,
});
await node.sh(RESERVED_SCRIPT);
for (const [name, spec] of Object.entries(RECORDED_PODS)) await node.writePod(name, spec);
try {
  await node.startKubelet();
  await readTree(node);
  // The weights of the classes follow the pods a moment later.
  await delay(10_000);
  await writeFile(output, `${JSON.stringify(await readTree(node), undefined, 1)}\n`);
} finally {
  await writeFile(`${output}.log`, await node.sh(`cat ${node.kubeletLog}`));
}
