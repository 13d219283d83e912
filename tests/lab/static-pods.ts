/** Small helpers for tests that run static pods. */
import { glob, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { LabNode } from './lab.ts';

export interface StaticPod {
  readonly name: string;
  /** The pod's spec as the API has it. */
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Puts the manifest into its place whole. Answers the file's path: removing it ends the pod. */
export async function writeStaticPod(node: LabNode, pod: StaticPod): Promise<string> {
  const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: pod.name }, spec: pod.spec };
  const path = join(node.manifestsDirectory, `${pod.name}.yaml`);
  const half = join(node.world.directory, `${pod.name}.half`);
  await writeFile(half, stringify(manifest));
  await rename(half, path);
  return path;
}

/** Everything that a container of a static pod has written, over all its restarts. */
export async function readPodLog(node: LabNode, pod: string, container: string): Promise<string> {
  const pattern = join(node.podLogsDirectory, `default_${pod}-${node.nodeName}_*`, container, '*.log');
  const files = (await Array.fromAsync(glob(pattern))).sort();
  return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('');
}

/** Far more than a busy machine needs: a test waits for something that comes, and does not measure how soon. */
export const PATIENCE_MS = 120_000;

/** Asks again and again until the answer is a value; on a deadline, the error carries what was being waited for. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await delay(25);
  }
}

export async function untilLogged(node: LabNode, pod: string, container: string, text: string): Promise<string> {
  return await eventually(`"${text}" in the log of ${pod}/${container}`, async () => {
    const log = await readPodLog(node, pod, container);
    return log.includes(text) ? log : undefined;
  });
}
