/** Run by a test with Node's permission model: whatever the kubelet touched outside its directory would fail. */
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { livePodLife } from './simulated-life.ts';
import { startSimulatedNode } from './simulated-node.ts';

const [, , directory = ''] = process.argv;

// The permission model refuses `fchmod` whatever the file is; modes are not what this looks at.
await using file = await open(join(directory, 'any'), 'w');
Object.getPrototypeOf(file).chmod = () => Promise.resolve();

try {
  readFileSync('/proc/self/stat');
} catch {
  process.stdout.write('/proc is denied\n');
}
await using node = await startSimulatedNode('sealed', directory);
await livePodLife(node, 'web');
process.stdout.write('the pod has lived\n');
