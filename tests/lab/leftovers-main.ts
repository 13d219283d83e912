/** The check at the end of a test run: fails it where anything of a world is left that no living process owns. */

import { findLeftovers } from '../../tools/machine/ledger.ts';
import { demoPlace } from '../../tools/run/place.ts';
import { labPlace } from './worlds.ts';

const left = (await Promise.all([labPlace(process.env), demoPlace(process.env)].map(findLeftovers))).flat();
for (const { what, name } of left) console.error(`left behind: ${what} ${name}`);
process.exitCode = left.length === 0 ? 0 : 1;
