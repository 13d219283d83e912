/** What `/metrics` shows of statistics: sizes of logs, and volumes of claims. */
import type { MetricFamily } from './resource-metrics.ts';
import type { VolumeFacts } from './summary.ts';
import type { StatsPod } from './targets.ts';

export interface MeasuredPod {
  readonly pod: Pick<StatsPod, 'uid' | 'name' | 'namespace'>;
  /** Bytes of the logs of containers, by their names. */
  readonly logs: ReadonlyMap<string, number>;
  readonly volumes: readonly VolumeFacts[];
}

/** A family without samples is not shown. */
export function computeKubeletMetrics(pods: readonly MeasuredPod[]): readonly MetricFamily[] {
  return [logFamily(pods), ...volumeFamilies(pods.flatMap(({ volumes }) => volumes))];
}

function logFamily(pods: readonly MeasuredPod[]): MetricFamily {
  const samples = pods.flatMap(({ pod: { uid, name, namespace }, logs }) =>
    [...logs].map(([container, value]) => ({
      labels: [
        ['container', container],
        ['namespace', namespace],
        ['pod', name],
        ['uid', uid],
      ] as const,
      value,
    })),
  );
  const help = "[ALPHA] Bytes used by the container's logs on the filesystem.";
  return { name: 'kubelet_container_log_filesystem_used_bytes', help, type: 'gauge', samples };
}

type Measure = readonly [name: string, help: string, of: (volume: VolumeFacts) => number | undefined];

const MEASURES: readonly Measure[] = [
  ['available_bytes', 'Number of available bytes in the volume', ({ availableBytes }) => availableBytes],
  ['capacity_bytes', 'Capacity in bytes of the volume', ({ capacityBytes }) => capacityBytes],
  ['inodes', 'Maximum number of inodes in the volume', ({ inodes }) => inodes],
  ['inodes_free', 'Number of free inodes in the volume', ({ inodesFree }) => inodesFree],
  ['inodes_used', 'Number of used inodes in the volume', ({ inodesUsed }) => inodesUsed],
  ['used_bytes', 'Number of used bytes in the volume', ({ usedBytes }) => usedBytes],
];

/** A claim that several pods use is shown once. */
function volumeFamilies(volumes: readonly VolumeFacts[]): readonly MetricFamily[] {
  const claims = new Map<string, VolumeFacts>();
  for (const volume of volumes) {
    const { claim } = volume;
    const key = claim && `${claim.namespace}/${claim.name}`;
    if (key !== undefined && !claims.has(key)) claims.set(key, volume);
  }
  return MEASURES.map(([name, help, of]) => ({
    name: `kubelet_volume_stats_${name}`,
    help: `[ALPHA] ${help}`,
    type: 'gauge',
    samples: [...claims.values()].flatMap((volume) => {
      const value = of(volume);
      if (value === undefined) return [];
      const { namespace = '', name: claim = '' } = volume.claim ?? {};
      const labels = [
        ['namespace', namespace],
        ['persistentvolumeclaim', claim],
      ] as const;
      return [{ labels, value }];
    }),
  }));
}
