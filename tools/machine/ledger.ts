/**
 * Which worlds there are and who owns them. A world's directory appears together with its ledger (one rename), before anything else of it is
 * made, and goes last: so whatever a killed process left behind is found and removed by the next run.
 */
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { destroyTree, isCode, listTrees, processesIn, readHierarchies } from './cgroup-trees.ts';
import { isAlive, type Owner, ownerOf } from './owner.ts';

/** Where worlds of one kind live: `make run` and the lab have a place each. */
export interface WorldPlace {
  readonly root: string;
  /** Cgroups of this place begin with it; what follows is the id of a world. */
  readonly cgroupPrefix: string;
  cgroupOf(id: string): string;
}

export function createPlace(root: string, cgroupPrefix: string): WorldPlace {
  return { root, cgroupPrefix, cgroupOf: (id) => `${cgroupPrefix}${id}` };
}

const LEDGER = 'ledger.json';
const UNBORN = '.new-';
/** What a killed process left of a world that it had begun is taken for a leftover after this. */
const LONGEST_BIRTH_MS = 300_000;

/** Makes the world's directory, owned by this process. Fails when a world of that name is there already. */
export async function claimWorld(place: WorldPlace, id: string): Promise<string> {
  const owner = ownerOf(process.pid);
  if (owner === undefined) throw new Error('this process is not in /proc');
  await mkdir(place.root, { recursive: true, mode: 0o755 });
  const unborn = await mkdtemp(join(place.root, UNBORN));
  const directory = join(place.root, id);
  try {
    await writeFile(join(unborn, LEDGER), JSON.stringify(owner));
    await chmod(unborn, 0o755); // the root of a user namespace is no one here, and must get to its files below
    await rename(unborn, directory);
  } catch (error) {
    await rm(unborn, { recursive: true, force: true });
    if (isCode(error, 'ENOTEMPTY', 'EEXIST')) throw new Error(`${directory} exists: the world ${id} is there already`);
    throw error;
  }
  return directory;
}

/** Removes the world's directory, the ledger last: half-way through it still names the owner. */
export async function removeWorldDirectory(directory: string): Promise<void> {
  const names = await readdir(directory).catch(emptyWhereMissing);
  for (const name of names) {
    if (name !== LEDGER) await rm(join(directory, name), { recursive: true, force: true });
  }
  await rm(directory, { recursive: true, force: true });
}

export interface Leftover {
  readonly what: 'world' | 'cgroup' | 'process' | 'mount';
  readonly name: string;
}

/** What is there although no one who lives owns it. Worlds in use by other processes are none of it. */
export async function findLeftovers(place: WorldPlace): Promise<Leftover[]> {
  const hierarchies = await readHierarchies();
  // Before the worlds: the directory of a world is there before its cgroup, so a world that is just being made has both or no cgroup yet.
  const trees = await listTrees(hierarchies, place.cgroupPrefix);
  const worlds = await readWorlds(place);
  const living = new Set(worlds.filter((world) => world.alive).map((world) => place.cgroupOf(world.id)));
  const found: Leftover[] = worlds.filter((world) => !world.alive).map(({ id }) => ({ what: 'world', name: id }));
  for (const tree of trees) {
    if (living.has(tree) || !isOf(place, tree)) continue;
    found.push({ what: 'cgroup', name: tree });
    for (const pid of await processesIn(hierarchies, tree)) found.push({ what: 'process', name: String(pid) });
  }
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
  for (const name of mounts.filter((path) => path.startsWith(`${place.root}/`))) found.push({ what: 'mount', name });
  return found;
}

/** The name of another place may go on where this one's ends (`lab` and `lab-two`); the id of a world has no hyphen. */
const isOf = ({ cgroupPrefix }: WorldPlace, tree: string) => !tree.slice(cgroupPrefix.length).includes('-');

/** Removes every world whose owner is dead, and cgroups without a world. Answers what it removed. */
export async function sweep(place: WorldPlace): Promise<Leftover[]> {
  const leftovers = await findLeftovers(place);
  const hierarchies = await readHierarchies();
  for (const { what, name } of leftovers) {
    if (what === 'cgroup') await destroyTree(hierarchies, name);
  }
  for (const { what, name } of leftovers) {
    if (what === 'world') await removeWorldDirectory(join(place.root, name));
  }
  return leftovers;
}

export interface KnownWorld {
  readonly id: string;
  readonly alive: boolean;
  readonly owner?: Owner;
}

export async function readWorlds(place: WorldPlace): Promise<KnownWorld[]> {
  const names = await readdir(place.root).catch(emptyWhereMissing);
  const worlds: KnownWorld[] = [];
  for (const id of names) {
    const owner = await readOwner(join(place.root, id, LEDGER));
    if (owner === 'none' && (await isInWork(join(place.root, id), id))) continue;
    worlds.push(owner === 'none' ? { id, alive: false } : { id, alive: isAlive(owner), owner });
  }
  return worlds;
}

/** A directory on its way in or out is empty for a moment, or its ledger is being written: another process is at work on it. */
async function isInWork(directory: string, id: string): Promise<boolean> {
  const names = await readdir(directory).catch(emptyWhereMissing);
  if (names.length === 0) return true;
  const changed = await stat(directory).catch(() => undefined); // gone: it was in work
  return changed === undefined || (id.startsWith(UNBORN) && Date.now() - changed.mtimeMs < LONGEST_BIRTH_MS);
}

function emptyWhereMissing(error: unknown): string[] {
  if (isCode(error, 'ENOENT')) return [];
  throw error;
}

async function readOwner(path: string): Promise<Owner | 'none'> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Owner;
  } catch (error) {
    if (isCode(error, 'ENOENT') || error instanceof SyntaxError) return 'none';
    throw error;
  }
}
