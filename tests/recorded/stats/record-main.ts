/** Writes what the reference answers for the pods of tests/node/stats-support.ts: `node --test tests/recorded/stats/record-main.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../node/pod-support.ts';
import {
  FROM_RUNTIME,
  familyTable,
  type StatsNode,
  seriesOf,
  shapeOf,
  statsNode,
  textOf,
} from '../../node/stats-support.ts';

const MINUTE_MS = 60_000;

interface Summary {
  readonly pods: readonly {
    readonly containers: readonly {
      readonly cpu: { readonly psi?: object };
      readonly rootfs?: { readonly usedBytes?: number };
    }[];
    readonly network?: object;
    readonly process_stats?: { readonly process_count: number };
    readonly volume?: object;
  }[];
}

test('the statistics of the reference are recorded', async (t) => {
  const node = await statsNode(t, 'reference');
  // It looks at new containers now and then, and at volumes later still.
  const summary = await until(
    'every container and volume is seen',
    async () => {
      const { pods } = JSON.parse(await textOf(node, '/stats/summary')) as Summary;
      const containers = pods.flatMap((pod) => pod.containers);
      const isWhole = containers.length === 4 && containers.every(({ cpu }) => cpu.psi !== undefined);
      const isSeen = isWhole && pods.every(({ network, process_stats }) => network && process_stats?.process_count);
      if (!isSeen || !pods.some(({ volume }) => volume)) return undefined;
      const processes = seriesOf(await textOf(node, '/metrics/cadvisor')).filter(
        ({ name }) => name === 'container_processes',
      );
      // The node, the kubelet, three groups, three pods, their sandboxes and containers.
      return processes.length === 15 ? await textOf(node, '/stats/summary') : undefined;
    },
    2 * MINUTE_MS,
  );
  await recordPages(node, JSON.parse(summary), '');
});

test('the statistics that the reference has from the runtime are recorded', async (t) => {
  const node = await statsNode(t, 'reference', FROM_RUNTIME);
  const summary = await until(
    'every layer and volume is measured',
    async () => {
      const { pods } = JSON.parse(await textOf(node, '/stats/summary')) as Summary;
      const containers = pods.flatMap((pod) => pod.containers);
      const isMeasured = containers.length === 4 && containers.every(({ rootfs }) => (rootfs?.usedBytes ?? 0) > 0);
      return isMeasured && pods.some(({ volume }) => volume) ? await textOf(node, '/stats/summary') : undefined;
    },
    2 * MINUTE_MS,
  );
  await recordPages(node, JSON.parse(summary), 'runtime-');
});

async function recordPages(node: StatsNode, summary: unknown, prefix: string): Promise<void> {
  const write = (file: string, lines: readonly string[]) =>
    writeFileSync(join(import.meta.dirname, `${prefix}${file}`), `${lines.join('\n')}\n`);
  write('summary.txt', shapeOf(summary).toSorted());
  const less = await textOf(node, '/stats/summary?only_cpu_and_memory=true');
  write('cpu-and-memory.txt', shapeOf(JSON.parse(less)).toSorted());
  write('resource.tsv', familyTable(await textOf(node, '/metrics/resource')));
  write('cadvisor.tsv', familyTable(await textOf(node, '/metrics/cadvisor')));
}
