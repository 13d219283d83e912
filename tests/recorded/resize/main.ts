/** `node tests/recorded/resize/main.ts FILE [SCENARIO…]`: lives the resizes under the reference kubelet and writes them down. */
import { writeFile } from 'node:fs/promises';
import { createSupplies } from '../../lab/supplies.ts';
import { liveResizes } from './live.ts';
import { SCENARIOS } from './scenarios.ts';

const [file = 'resizes.json', ...names] = process.argv.slice(2);
const chosen = names.length === 0 ? SCENARIOS : SCENARIOS.filter(({ name }) => names.includes(name));
const binary = process.env['KUBELET'] ?? (await createSupplies(process.env).referenceKubelet());
const lived = await liveResizes(chosen, { binary, onScenario: (name) => process.stderr.write(`${name} `) });
await writeFile(file, `${JSON.stringify(lived, undefined, 1)}\n`);
