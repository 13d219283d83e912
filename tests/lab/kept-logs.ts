/** Keeps the logs of a world for a test that failed, and says where they are. */
import { cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { cacheRoot } from '../../tools/machine/cache.ts';
import type { NodeWorld } from '../../tools/machine/node.ts';

/** Older ones go: a failing test run over and over must not fill the disk. */
const KEPT = 40;

/**
 * When a world goes its test is still running, so its logs are set aside; they are removed again when the test turns out to pass.
 * Without a test nobody can tell, and they stay.
 */
export async function keepLogs(node: NodeWorld, test: TestContext | undefined, env: NodeJS.ProcessEnv): Promise<void> {
  const root = join(cacheRoot(env), 'lab-logs');
  const folder = join(root, `${new Date().toISOString().replace(/[:.]/g, '-')}-${node.id}`);
  await mkdir(root, { recursive: true });
  await cp(node.world.logsFolder, folder, { recursive: true });
  await cp(join(node.world.folder, 'log'), join(folder, 'var-log'), { recursive: true, verbatimSymlinks: true });
  await cp(node.kubelet.configFile, join(folder, 'kubelet.yaml'), { force: true }).catch(() => undefined);
  await cp(node.containerd.configFile, join(folder, 'containerd.toml'));
  test?.after(async () => {
    if (test.passed) await rm(folder, { recursive: true, force: true });
    else console.error(`the logs of "${test.fullName}" are in ${folder}`);
  });
  await prune(root);
}

async function prune(root: string): Promise<void> {
  const names = (await readdir(root)).sort();
  for (const name of names.slice(0, Math.max(0, names.length - KEPT))) {
    const path = join(root, name);
    if ((await stat(path).catch(() => undefined))?.isDirectory()) await rm(path, { recursive: true, force: true });
  }
}
