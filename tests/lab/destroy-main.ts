/** Takes worlds of the lab away by their ids: `node destroy-main.ts ID…`; without ids, those whose owners are dead. */
import { join } from 'node:path';
import { destroyTree, readHierarchies } from '../../tools/machine/cgroup-trees.ts';
import { removeWorldFolder, sweep } from '../../tools/machine/ledger.ts';
import { LAB_PLACE } from './worlds.ts';

const ids = process.argv.slice(2);
const hierarchies = await readHierarchies();
for (const id of ids) {
  await destroyTree(hierarchies, LAB_PLACE.cgroupOf(id));
  await removeWorldFolder(join(LAB_PLACE.root, id));
}
if (ids.length === 0) {
  for (const { what, name } of await sweep(LAB_PLACE)) console.log(`took away ${what} ${name}`);
}
