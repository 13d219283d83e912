/** Static pods, many at once: their files dropped and removed, and how long it took until it showed. */
import { renameSync, unlinkSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CONTAINER, untilAllLogged } from './log-times.ts';
import type { BenchNode } from './node.ts';
import { untilNoneRuns } from './running.ts';

export const BUSYBOX = 'lab.local/busybox:1';
/** Says that it is up and ends at once when it is asked to. */
export const SCRIPT = 'trap "exit 0" TERM; echo up; while :; do sleep 3600 & wait $!; done';
export const GRACE_SECONDS = 2;
/** Several times what the slowest kubelet was seen to need for a hundred pods. */
export const PODS_DEADLINE_MS = 120_000;

export function podSpec(container: object = {}): Readonly<Record<string, unknown>> {
  return {
    terminationGracePeriodSeconds: GRACE_SECONDS,
    containers: [{ name: CONTAINER, image: BUSYBOX, command: ['sh', '-c', SCRIPT], ...container }],
  };
}

export interface StaticPods {
  /** As the node knows them: with its own name at the end. */
  readonly names: readonly string[];
  /** From the first file in its place to the first log line of each pod, in milliseconds. */
  readonly upAfter: readonly number[];
  /** Removes the files. Answers how long it took until no pod had a process or a network any more, in milliseconds. */
  drain(): Promise<number>;
}

export async function runStaticPods(world: BenchNode, count: number, spec: object = podSpec()): Promise<StaticPods> {
  const { node } = world;
  const names = Array.from({ length: count }, () => world.podName());
  const fileOf = (name: string) => join(node.manifestsDirectory, `${name}.yaml`);
  const halfOf = (name: string) => join(node.world.directory, `${name}.half`);
  for (const name of names) {
    await writeFile(halfOf(name), stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }));
  }
  // The wall clock, since that is what stands in the logs.
  const from = Date.now();
  for (const name of names) renameSync(halfOf(name), fileOf(name));
  const prefixes = names.map((name) => `default_${name}-${node.nodeName}_`);
  const times = await untilAllLogged(node.podLogsDirectory, prefixes, PODS_DEADLINE_MS);
  return {
    names: names.map((name) => `${name}-${node.nodeName}`),
    upAfter: times.map((time) => time - from),
    drain: async () => {
      const start = performance.now();
      for (const name of names) unlinkSync(fileOf(name));
      await untilNoneRuns(world, PODS_DEADLINE_MS);
      return performance.now() - start;
    },
  };
}

/** The UID that the kubelet gave to a static pod: part of the name of its log directory. */
export async function staticPodUid({ node }: BenchNode, name: string): Promise<string> {
  const prefix = `default_${name}_`;
  const directory = (await readdir(node.podLogsDirectory)).find((entry) => entry.startsWith(prefix));
  if (directory === undefined) throw new Error(`no log directory of ${name} in ${node.podLogsDirectory}`);
  return directory.slice(prefix.length);
}
