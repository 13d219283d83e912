/**
 * When containers began to talk, by the time that containerd writes before each line of their logs: exact, however
 * rarely anybody looks, and looking costs neither the kubelet nor the runtime anything.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isCode } from '../../tools/machine/cgroup-trees.ts';

/** Of every pod of the bench: its one container, and its log below the pod's log directory. */
export const CONTAINER = 'main';
export const LOG_FILE = join(CONTAINER, '0.log');

const LOOK_AGAIN_MS = 100;

/** Milliseconds since 1970 of the first line; undefined while there is none. */
export function firstLineTime(log: string): number | undefined {
  const end = log.indexOf('\n');
  if (end < 0) return undefined;
  const time = Date.parse(log.slice(0, log.indexOf(' ')));
  if (Number.isNaN(time)) throw new Error(`a line of a container log begins with no time: ${log.slice(0, end)}`);
  return time;
}

/** Waits until each of the pods has logged a line; answers the times in the order of the names. */
export async function untilAllLogged(
  podLogsDirectory: string,
  /** How the names of the pods' log directories begin. */
  prefixes: readonly string[],
  timeoutMs: number,
): Promise<readonly number[]> {
  const deadline = performance.now() + timeoutMs;
  const times = new Map<string, number>();
  for (;;) {
    const directories = await readdir(podLogsDirectory);
    for (const prefix of prefixes) {
      if (times.has(prefix)) continue;
      const directory = directories.find((name) => name.startsWith(prefix));
      const time = directory === undefined ? undefined : await readFirstLineTime(join(podLogsDirectory, directory));
      if (time !== undefined) times.set(prefix, time);
    }
    if (times.size === prefixes.length) return prefixes.map((prefix) => times.get(prefix) ?? Number.NaN);
    if (performance.now() > deadline) {
      throw new Error(`${times.size} of ${prefixes.length} pods have logged a line within ${timeoutMs} ms`);
    }
    await delay(LOOK_AGAIN_MS);
  }
}

async function readFirstLineTime(podDirectory: string): Promise<number | undefined> {
  try {
    return firstLineTime(await readFile(join(podDirectory, LOG_FILE), 'utf8'));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
