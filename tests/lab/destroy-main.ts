/** Takes worlds of the lab away by their ids: `node destroy-main.ts ID…`; without ids, those whose owners are dead. */
import { join } from 'node:path';
import { destroyTree, readHierarchies } from '../../tools/machine/cgroup-trees.ts';
import { removeWorldDirectory, sweep } from '../../tools/machine/ledger.ts';
import { labPlace } from './worlds.ts';

const place = labPlace(process.env);
const ids = process.argv.slice(2);
const hierarchies = await readHierarchies();
for (const id of ids) {
  await destroyTree(hierarchies, place.cgroupOf(id));
  await removeWorldDirectory(join(place.root, id));
}
if (ids.length === 0) {
  for (const { what, name } of await sweep(place)) console.log(`took away ${what} ${name}`);
}
