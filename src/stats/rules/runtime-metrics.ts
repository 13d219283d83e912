/** What the runtime reports of pods and containers, for `/metrics/cadvisor` and `/metrics/resource` (gate `PodAndContainerStatsFromCRI`). */
import type { ContainerStats, Metric, MetricDescriptor, PodSandboxMetrics } from '../../wire/gen/cri-runtime-v1.ts';
import type { ResourceReading } from './reading.ts';
import type { MetricFamily, MetricSample } from './resource-metrics.ts';
import type { RuntimePods } from './runtime-stats.ts';
import { isSelected, isShown, type Selection } from './selection.ts';
import type { StatsPod } from './targets.ts';

const NS_PER_MS = 1_000_000n;
const GAUGE = 1;

interface Measured {
  readonly metric: Metric;
  readonly kind: 'sandbox' | 'container';
}

/** The families that the runtime describes, in the order of their names. What it measures without a description is left out. */
export function runtimeFamilies(
  descriptors: readonly MetricDescriptor[],
  pods: readonly PodSandboxMetrics[],
  selection: Selection,
): readonly MetricFamily[] {
  const all = pods.flatMap(({ metrics, containerMetrics }): readonly Measured[] => [
    ...metrics.map((metric) => ({ metric, kind: 'sandbox' }) as const),
    ...containerMetrics.flatMap((one) => one.metrics.map((metric) => ({ metric, kind: 'container' }) as const)),
  ]);
  const byName = Map.groupBy(all, ({ metric }) => metric.name);
  return descriptors
    .filter(({ name }) => isSelected(selection, name))
    .map(({ name, help, labelKeys }): MetricFamily => {
      const found = (byName.get(name) ?? []).filter((one) => isShown(selection, one, name));
      const samples = found.flatMap(({ metric }) => sampleOf(metric, labelKeys));
      return {
        name,
        help: `[INTERNAL] ${help}`,
        type: found[0]?.metric.metricType === GAUGE ? 'gauge' : 'counter',
        samples,
      };
    })
    .toSorted((a, b) => compare(a.name, b.name));
}

/** None where the labels are not those of the description: a line with other labels would spoil the whole page. */
function sampleOf({ labelValues, value, timestamp }: Metric, keys: readonly string[]): readonly MetricSample[] {
  if (labelValues.length !== keys.length) return [];
  const labels = keys.map((key, at) => [key, labelValues[at] ?? ''] as const).toSorted((a, b) => compare(a[0], b[0]));
  const time = timestamp === 0n ? undefined : Number(timestamp / NS_PER_MS);
  return [{ labels, value: value?.value ?? 0, time }];
}

/** CPU and memory of pods and containers by their cgroups, as the runtime reports them. */
export function runtimeReadings(pods: readonly StatsPod[], runtime: RuntimePods): ReadonlyMap<string, ResourceReading> {
  const found = new Map<string, ResourceReading>();
  for (const { cgroup, sandbox, containers } of pods) {
    const linux = sandbox && runtime.get(sandbox.id)?.linux;
    if (linux === undefined) continue;
    const own = new Map(linux.containers.map((one) => [one.attributes?.id, one]));
    let podSwap = 0;
    for (const { id, cgroup: path } of containers) {
      const stats = own.get(id);
      if (stats === undefined) continue;
      const swap = stats.swap?.swapUsageBytes?.value ?? 0;
      podSwap += swap;
      found.set(path, readingOf(stats, { swap, available: stats.swap?.swapAvailableBytes?.value ?? 0 }));
    }
    found.set(cgroup, readingOf(linux, { swap: podSwap, available: 0 }));
  }
  return found;
}

function readingOf(
  { cpu, memory }: Pick<ContainerStats, 'cpu' | 'memory'>,
  { swap, available }: { readonly swap: number; readonly available: number },
): ResourceReading {
  return {
    time: Number((cpu?.timestamp ?? memory?.timestamp ?? 0n) / NS_PER_MS),
    cpu: { usage: cpu?.usageCoreNanoSeconds?.value ?? 0 },
    memory: { workingSet: memory?.workingSetBytes?.value ?? 0, swap },
    spec: { memory: { swapLimit: available + swap } },
  };
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
