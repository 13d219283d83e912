/**
 * The cgroups of this machine as one tree, whatever hierarchies it is made of: a path means the directory of that name in each of
 * them. Callers give paths of their own making only; nothing here looks at other cgroups.
 *
 * What makes a cgroup is synchronous: its files are in memory, a call takes some ten microseconds, and a pod needs about fifty of them before it
 * can start. Through the thread pool they took longer than all the rest that is done for a pod before its sandbox.
 */

import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { readdir, readFile, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { kill } from 'node:process';
import { hasErrno, isMissing } from '../base/errno.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { CgroupHierarchy } from './cgroup-mounts.ts';

export interface Cgroups {
  readonly version: 1 | 2;
  /** The controllers of this machine. */
  controllers(): Promise<ReadonlySet<string>>;
  /** It exists in every hierarchy that limits pods, with all controllers. */
  exists(path: string): boolean;
  /** Creates it and what is missing above it, ready to hold others. Nothing happens to what exists. */
  create(path: string): void;
  /** Returns the files that this kernel does not have. */
  write(path: string, values: readonly CgroupFileValue[]): readonly string[];
  /** What one of its files says; undefined where there is none. */
  read(path: string, file: string): string | undefined;
  /** Bytes that are charged to it; undefined where the kernel doesn't say. */
  memoryUsage(path: string): Promise<bigint | undefined>;
  /** Moves a process into it, in every hierarchy. False for one that has ended. */
  enter(path: string, pid: number): boolean;
  /** The processes that are in it in every hierarchy, without those below. */
  processes(path: string): Promise<readonly number[]>;
  /** Names of the cgroups directly below it, in any hierarchy. */
  children(path: string): Promise<readonly string[]>;
  /** Kills every process in it and below it. Returns how many there were. */
  kill(path: string): Promise<number>;
  /** Removes it with all below it; false while processes in it keep it. */
  remove(path: string): Promise<boolean>;
}

export interface CgroupFileValue {
  readonly file: string;
  readonly value: string;
  readonly optional?: boolean;
}

/** The controllers that limit pods; what else there is doesn't matter to us. */
const NEEDED = ['cpu', 'cpuset', 'memory', 'pids', 'hugetlb'];

export function createCgroups(hierarchies: readonly CgroupHierarchy[]): Cgroups {
  const unified = hierarchies.find(({ version }) => version === 2);
  const version = hierarchies.some((one) => one.version === 1) ? 1 : 2;
  if (unified === undefined && version === 2) {
    throw new CodedError('unsupported', 'no cgroup hierarchy is mounted on this machine');
  }
  const directories = (path: string) => hierarchies.map(({ mountPoint }) => join(mountPoint, path));
  const ruling = hierarchies.filter((one) => version === 2 || one.controllers.some((name) => NEEDED.includes(name)));
  const ownControllers = (hierarchy: CgroupHierarchy) =>
    hierarchy.version === 1
      ? Promise.resolve(hierarchy.controllers)
      : readWords(hierarchy.mountPoint, 'cgroup.controllers');

  const directoryOf = (path: string, file: string): string | undefined => {
    if (version === 2) return join(unified?.mountPoint ?? '', path);
    const controller = file.slice(0, file.indexOf('.'));
    const hierarchy = hierarchies.find(({ controllers }) => controllers.includes(controller));
    return hierarchy === undefined ? undefined : join(hierarchy.mountPoint, path);
  };

  return {
    version,
    controllers: async () => new Set((await Promise.all(ruling.map(ownControllers))).flat()),
    exists: (path) => ruling.every((one) => isWhole(one, path)),
    create: (path) => {
      for (const one of hierarchies) createIn(one, join(one.mountPoint, path));
    },
    write: (path, values) => writeAll(values.map((value) => ({ ...value, directory: directoryOf(path, value.file) }))),
    read: (path, file) => {
      const directory = directoryOf(path, file);
      return directory === undefined ? undefined : readNowIfThere(join(directory, file))?.trim();
    },
    memoryUsage: async (path) => {
      const file = version === 1 ? 'memory.usage_in_bytes' : 'memory.current';
      const directory = directoryOf(path, file);
      const text = directory === undefined ? undefined : await readIfThere(join(directory, file));
      return text === undefined ? undefined : BigInt(text.trim());
    },
    enter: (path, pid) =>
      directories(path)
        .map((directory) => enterOne(directory, pid))
        .every(Boolean),
    processes: async (path) => {
      const lists = await Promise.all(
        directories(path).map((directory) => readIfThere(join(directory, 'cgroup.procs'))),
      );
      const [first = new Set<number>(), ...others] = lists.map((text) => new Set(words(text ?? '').map(Number)));
      return [...first].filter((pid) => pid > 0 && others.every((other) => other.has(pid)));
    },
    children: async (path) => {
      const names = await Promise.all(directories(path).map(listDirectories));
      return [...new Set(names.flat())];
    },
    kill: async (path) => {
      const pids = new Set((await Promise.all(directories(path).map(processesBelow))).flat());
      for (const pid of pids) killOne(pid);
      return pids.size;
    },
    remove: async (path) => (await Promise.all(directories(path).map(removeTree))).every(Boolean),
  };
}

function isWhole({ version, mountPoint }: CgroupHierarchy, path: string): boolean {
  const directory = join(mountPoint, path);
  if (version === 1) return existsSync(join(directory, 'cgroup.procs'));
  const own = readNowIfThere(join(directory, 'cgroup.controllers'));
  if (own === undefined) return false;
  const all = readWordsNow(mountPoint, 'cgroup.controllers');
  return NEEDED.filter((name) => all.includes(name)).every((name) => words(own).includes(name));
}

/** From the bottom up, since mostly all but the last directory is there. */
function createIn(hierarchy: CgroupHierarchy, directory: string): void {
  const above = dirname(directory);
  if (makeDirectory(directory, hierarchy.mountPoint) === 'nothing above') {
    createIn(hierarchy, above);
    makeDirectory(directory, directory);
  }
  if (hierarchy.version === 2) passOnControllers(above);
  if (hierarchy.controllers.includes('cpuset')) inheritCpuset(directory);
}

/** At the root of a hierarchy there is nothing above that could be made. */
function makeDirectory(directory: string, root: string): 'there' | 'nothing above' {
  try {
    mkdirSync(directory, { mode: 0o755 });
  } catch (error) {
    if (isMissing(error) && directory !== root) return 'nothing above';
    unless('EEXIST')(error);
  }
  return 'there';
}

/**
 * A cgroup of the second generation has the controllers that the one above passes on. One that can't be passed on is not fatal
 * here: a limit that then can't be written is.
 */
function passOnControllers(directory: string): void {
  const passed = readWordsNow(directory, 'cgroup.subtree_control');
  const missing = readWordsNow(directory, 'cgroup.controllers').filter((name) => !passed.includes(name));
  for (const name of missing) {
    try {
      writeExisting(join(directory, 'cgroup.subtree_control'), `+${name}`);
    } catch (error) {
      unless('EBUSY', 'EINVAL', 'ENOENT', 'EOPNOTSUPP')(error);
    }
  }
}

/** New cgroups of the first generation have no CPU and no memory node at all, and no process may enter them like that. */
function inheritCpuset(directory: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const own = readFileSync(join(directory, file), 'utf8').trim();
    if (own !== '') continue;
    writeExisting(join(directory, file), readFileSync(join(dirname(directory), file), 'utf8').trim());
  }
}

interface PlacedValue extends CgroupFileValue {
  readonly directory: string | undefined;
}

/** Values can depend on each other (a period on its quota): what the kernel refuses is tried once more after the others. */
function writeAll(values: readonly PlacedValue[]): readonly string[] {
  const missing: string[] = [];
  const refused: PlacedValue[] = [];
  const tryOne = (value: PlacedValue, last: boolean): void => {
    const outcome = writeOne(value);
    if (outcome.kind === 'missing' && value.optional !== true) missing.push(value.file);
    if (outcome.kind !== 'refused') return;
    if (last) throw outcome.error;
    refused.push(value);
  };
  for (const value of values) tryOne(value, false);
  for (const value of refused) tryOne(value, true);
  return missing;
}

type WriteOutcome = { readonly kind: 'written' | 'missing' } | { readonly kind: 'refused'; readonly error: CodedError };

function writeOne({ directory, file, value }: PlacedValue): WriteOutcome {
  if (directory === undefined) return { kind: 'missing' };
  const path = join(directory, file);
  try {
    writeExisting(path, value);
    return { kind: 'written' };
  } catch (error) {
    if (isMissing(error) && existsSync(join(directory, 'cgroup.procs'))) return { kind: 'missing' };
    const reason = describeError(error);
    return {
      kind: 'refused',
      error: new CodedError('internal', `can't write ${value} to ${path}: ${reason}`, { cause: error }),
    };
  }
}

/** Never creates: a file that is not there is a limit that this kernel does not have. */
function writeExisting(path: string, value: string): void {
  const file = openSync(path, 'r+');
  try {
    writeSync(file, value);
  } finally {
    closeSync(file);
  }
}

async function listDirectories(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    unless('ENOENT', 'ENODEV')(error);
    return [];
  }
}

async function processesBelow(directory: string): Promise<readonly number[]> {
  const own = words((await readIfThere(join(directory, 'cgroup.procs'))) ?? '').map(Number);
  const below = await Promise.all(
    (await listDirectories(directory)).map((name) => processesBelow(join(directory, name))),
  );
  // 0 stands for a process of another namespace, which can't be named from here.
  return [...own, ...below.flat()].filter((pid) => pid > 0);
}

function enterOne(directory: string, pid: number): boolean {
  try {
    writeExisting(join(directory, 'cgroup.procs'), String(pid));
    return true;
  } catch (error) {
    unless('ESRCH')(error);
    return false;
  }
}

function killOne(pid: number): void {
  try {
    kill(pid, 'SIGKILL');
  } catch (error) {
    unless('ESRCH')(error);
  }
}

async function removeTree(directory: string): Promise<boolean> {
  const below = await Promise.all((await listDirectories(directory)).map((name) => removeTree(join(directory, name))));
  if (!below.every(Boolean)) return false;
  try {
    await rmdir(directory);
  } catch (error) {
    if (hasErrno(error, 'EBUSY')) return false;
    unless('ENOENT', 'ENODEV')(error);
  }
  return true;
}

async function readWords(directory: string, file: string): Promise<readonly string[]> {
  return words(await readFile(join(directory, file), 'utf8'));
}

function readWordsNow(directory: string, file: string): readonly string[] {
  return words(readFileSync(join(directory, file), 'utf8'));
}

function readNowIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    unless('ENOENT', 'ENODEV', 'ENOTDIR')(error);
    return undefined;
  }
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Undefined also for a cgroup that is removed while it is read. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    unless('ENOENT', 'ENODEV', 'ENOTDIR')(error);
    return undefined;
  }
}

/** Throws on what is not one of these. */
function unless(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!hasErrno(error, ...codes)) throw error;
  };
}
