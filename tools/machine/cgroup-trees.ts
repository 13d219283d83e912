/**
 * One cgroup of the same name in every hierarchy of the machine (v1, hybrid or v2) that holds everything a world runs.
 * Whatever its processes start stays below it, so ending a world is exact: nothing is missed and no one else is hit.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface CgroupHierarchies {
  /** Every mounted hierarchy, by its mount point. */
  readonly mounts: readonly string[];
  /** The controllers of each v1 hierarchy, as its mount options name them (`cpu,cpuacct`, `name=systemd`). */
  readonly controllers: ReadonlyMap<string, string>;
  /** The v2 one: its membership is inherited by everything, and it can kill a whole tree at once. */
  readonly unified: string;
}

const CGROUP_ROOT = '/sys/fs/cgroup';
/** The kernel removes a killed process from its cgroup in milliseconds; a dying fork bomb takes longer. */
const DRAIN_DEADLINE_MS = 60_000;
const DRAIN_STEP_MS = 5;

/** Reads the mounts of /proc/self/mounts. */
export function parseHierarchies(mounts: string): CgroupHierarchies {
  const controllers = new Map<string, string>();
  let unified: string | undefined;
  for (const line of mounts.split('\n')) {
    const [, target, type, options = ''] = line.split(' ');
    if (target === undefined || !(target === CGROUP_ROOT || target.startsWith(`${CGROUP_ROOT}/`))) continue;
    if (type === 'cgroup') controllers.set(target, options.split(',').filter(isController).join(','));
    if (type === 'cgroup2') unified ??= target;
  }
  if (unified === undefined) {
    throw new Error(`no cgroup2 mount at or below ${CGROUP_ROOT}: a cgroup v2 or hybrid layout is needed`);
  }
  return { mounts: [...controllers.keys(), unified], controllers, unified };
}

const GENERAL_MOUNT_OPTIONS =
  /^(rw|ro|nosuid|nodev|noexec|(no|rel|strict)atime|xattr|clone_children|release_agent=.*)$/;
const isController = (option: string): boolean => !GENERAL_MOUNT_OPTIONS.test(option);

export async function readHierarchies(): Promise<CgroupHierarchies> {
  return parseHierarchies(await readFile('/proc/self/mounts', 'utf8'));
}

/** Makes `name`, which may be a path, in every hierarchy. A v1 cpuset without CPUs takes no process, so it gets its parent's. */
export async function createTree(hierarchies: CgroupHierarchies, name: string): Promise<void> {
  for (const mount of hierarchies.mounts) {
    let dir = mount;
    for (const part of name.split('/')) {
      const parent = dir;
      dir = join(parent, part);
      const isNew = (await mkdir(dir, { recursive: true })) !== undefined;
      if (isNew && hierarchies.controllers.get(mount)?.split(',').includes('cpuset')) await copyCpuset(parent, dir);
    }
  }
}

async function copyCpuset(from: string, to: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) await writeFile(join(to, file), await readFile(join(from, file)));
}

/** What a kubelet and a runtime set limits with. */
const POD_CONTROLLERS = ['cpu', 'cpuset', 'memory', 'io', 'pids', 'hugetlb'];

/** v2 gives a group only the controllers that its parent hands down. The group must hold no process of its own. */
export async function delegateControllers(hierarchies: CgroupHierarchies, name: string): Promise<void> {
  for (const dir of [hierarchies.unified, join(hierarchies.unified, name)]) {
    const wordsOf = async (file: string) => (await readFile(join(dir, file), 'utf8')).trim().split(/\s+/);
    const available = await wordsOf('cgroup.controllers');
    const given = await wordsOf('cgroup.subtree_control');
    const missing = POD_CONTROLLERS.filter((name) => available.includes(name) && !given.includes(name));
    if (missing.length > 0) {
      await writeFile(join(dir, 'cgroup.subtree_control'), missing.map((name) => `+${name}`).join(' '));
    }
  }
}

/** Every process below `name` in any hierarchy. */
export async function processesIn(hierarchies: CgroupHierarchies, name: string): Promise<number[]> {
  const pids = new Set<number>();
  for (const mount of hierarchies.mounts) {
    for (const dir of await subtree(join(mount, name))) {
      const text = await readIfThere(join(dir, 'cgroup.procs'));
      for (const line of text.split('\n')) if (line !== '') pids.add(Number(line));
    }
  }
  return [...pids].sort((a, b) => a - b);
}

/**
 * Kills everything in the tree and removes it. New processes are forbidden first: a fork bomb must not outrun the kill.
 * Does nothing where the tree is gone already.
 */
export async function destroyTree(hierarchies: CgroupHierarchies, name: string): Promise<void> {
  const deadline = performance.now() + DRAIN_DEADLINE_MS;
  for (const mount of hierarchies.mounts) await writeIfThere(join(mount, name, 'pids.max'), '0');
  for (;;) {
    await thaw(hierarchies, name);
    await writeIfThere(join(hierarchies.unified, name, 'cgroup.kill'), '1');
    const left = await processesIn(hierarchies, name);
    for (const pid of left) killIfAlive(pid);
    if (left.length === 0 && (await removeTree(hierarchies, name))) return;
    if (performance.now() > deadline) {
      throw new Error(`cgroup ${name}: not empty ${DRAIN_DEADLINE_MS} ms after the kill; processes ${left.join(', ')}`);
    }
    await delay(DRAIN_STEP_MS);
  }
}

/** Names of the top-level cgroups with the given prefix, over all hierarchies. */
export async function listTrees(hierarchies: CgroupHierarchies, prefix: string): Promise<string[]> {
  const names = new Set<string>();
  for (const mount of hierarchies.mounts) {
    for (const entry of await readdir(mount, { withFileTypes: true })) {
      if (entry.isDirectory() && entry.name.startsWith(prefix)) names.add(entry.name);
    }
  }
  return [...names].sort();
}

/** A frozen v1 process takes no signal, not even SIGKILL. */
async function thaw(hierarchies: CgroupHierarchies, name: string): Promise<void> {
  for (const mount of hierarchies.mounts) {
    for (const dir of await subtree(join(mount, name))) {
      if (existsSync(join(dir, 'freezer.state'))) await writeIfThere(join(dir, 'freezer.state'), 'THAWED');
    }
  }
}

/** Children before parents. Answers false while the kernel still calls one busy. */
async function removeTree(hierarchies: CgroupHierarchies, name: string): Promise<boolean> {
  let clean = true;
  for (const mount of hierarchies.mounts) {
    for (const dir of (await subtree(join(mount, name))).reverse()) {
      try {
        await rmdir(dir);
      } catch (error) {
        if (!isCode(error, 'ENOENT')) clean = false;
        if (!isCode(error, 'ENOENT', 'EBUSY', 'ENOTEMPTY')) throw error;
      }
    }
  }
  return clean;
}

/** The directory and all below it, parents first; empty where it does not exist. */
async function subtree(dir: string): Promise<string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    const below = await Promise.all(entries.filter((e) => e.isDirectory()).map((e) => subtree(join(dir, e.name))));
    return [dir, ...below.flat()];
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENODEV')) return [];
    throw error;
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    // ENOTSUP: a threaded v2 group lists its processes in its parent.
    if (isCode(error, 'ENOENT', 'ENODEV', 'EOPNOTSUPP', 'ENOTSUP')) return '';
    throw error;
  }
}

async function writeIfThere(path: string, text: string): Promise<void> {
  if (!existsSync(path)) return;
  try {
    await writeFile(path, text);
  } catch (error) {
    if (!isCode(error, 'ENOENT', 'ENODEV')) throw error;
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!isCode(error, 'ESRCH')) throw error;
  }
}

export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}
