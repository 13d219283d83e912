/** Keeps the logs of a world for a test that failed, and says where they are. */
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { isMissing } from '../../src/base/errno.ts';
import { cacheRoot } from '../../tools/machine/cache.ts';
import type { NodeWorld } from '../../tools/machine/node.ts';

/** Older ones go: a failing test run over and over must not fill the disk. */
const KEPT = 40;

export type LoggedWorld = Pick<NodeWorld, 'id' | 'world' | 'destroy'> &
  Partial<Pick<NodeWorld, 'kubelet' | 'containerd'>>;

/** Copies everything that tells what happened out of a world that is about to go. Answers the copy's directory. */
export async function setLogsAside(node: LoggedWorld, env: NodeJS.ProcessEnv): Promise<string> {
  const root = join(cacheRoot(env), 'lab-logs');
  const directory = join(root, `${new Date().toISOString().replace(/[:.]/g, '-')}-${node.id}`);
  await mkdir(root, { recursive: true });
  await cp(node.world.logsDirectory, directory, { recursive: true });
  await copyLive(join(node.world.directory, 'log'), join(directory, 'var-log'));
  for (const [from, to] of [
    [node.kubelet?.configFile, 'kubelet.yaml'],
    [node.containerd?.configFile, 'containerd.toml'],
  ] as const) {
    if (from !== undefined && existsSync(from)) await cp(from, join(directory, to));
  }
  await prune(root);
  return directory;
}

/** The kubelet still runs, and may remove logs of a pod while they are copied: then the copy begins again. */
async function copyLive(from: string, to: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await cp(from, to, { recursive: true, verbatimSymlinks: true, force: true });
      return;
    } catch (error) {
      if (!isMissing(error) || tries === 5) throw error;
      await rm(to, { recursive: true, force: true });
    }
  }
}

/** When a world goes its test is usually still running: only after it is known whether anybody needs the logs. */
export async function judgeLogs(test: TestContext, directory: string): Promise<void> {
  if (test.passed) await rm(directory, { recursive: true, force: true });
  else console.error(`the logs of "${test.fullName}" are in ${directory}`);
}

/** Leaves the youngest of directories whose names begin with their time. */
export async function prune(root: string): Promise<void> {
  const names = (await readdir(root)).sort();
  for (const name of names.slice(0, Math.max(0, names.length - KEPT))) {
    const path = join(root, name);
    if ((await stat(path).catch(() => undefined))?.isDirectory()) await rm(path, { recursive: true, force: true });
  }
}
