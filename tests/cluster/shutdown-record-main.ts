/** Records what the reference kubelet does in a shutdown: `node tests/cluster/shutdown-record-main.ts`. */
import { writeFile } from 'node:fs/promises';
import { createShutdownNode, nodeEvents, RECORDED, recordShutdown } from './shutdown-support.ts';

await using node = await createShutdownNode('reference');
const { lines, ...facts } = await recordShutdown(node);
console.log(lines, await nodeEvents(node));
await writeFile(RECORDED, `${JSON.stringify(facts, undefined, 2)}\n`);
