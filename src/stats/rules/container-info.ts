/** A cgroup in the forms of cAdvisor's REST API: `ContainerInfo` of its versions 1 and 2. Times are nanoseconds, sizes bytes. */
import { formatTimestamp } from '../../api/timestamp.ts';
import type { CgroupReading, Readings } from './reading.ts';
import type { DiskCounters } from './sample.ts';
import type { Target } from './targets.ts';

export interface CadvisorContainer {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly namespace?: string;
  readonly subcontainers: readonly { readonly name: string }[];
  readonly spec: object;
  readonly stats: readonly object[];
}

/** Those of this path, or with all below it; empty: the path is not that of a known cgroup. */
export function containerInfos(
  targets: readonly Target[],
  readings: Readings,
  request: { readonly path: string; readonly isWhole: boolean },
): readonly CadvisorContainer[] {
  const { path, isWhole } = request;
  const chosen = targets.filter((one) => one.path === path || (isWhole && isBelow(one.path, path)));
  return chosen.flatMap((target) => {
    const reading = readings.get(target.path);
    return reading === undefined ? [] : [infoOf(target, reading, childrenOf(targets, target.path))];
  });
}

const isBelow = (path: string, above: string): boolean =>
  path.startsWith(above === '/' ? '/' : `${above}/`) && path !== above;

function childrenOf(targets: readonly Target[], path: string): readonly string[] {
  const below = targets.map((one) => one.path).filter((one) => isBelow(one, path));
  return below.filter((one) => !below.some((other) => isBelow(one, other)));
}

function infoOf(target: Target, reading: CgroupReading, children: readonly string[]): CadvisorContainer {
  const { path, id } = target;
  return {
    ...(id === '' ? {} : { id, aliases: [id, path], namespace: 'containerd' }),
    name: path,
    subcontainers: children.map((name) => ({ name })),
    spec: specOf(target, reading),
    stats: [statsOf(reading)],
  };
}

function specOf({ pod, container, image }: Target, { createdAt, spec, cpu, memory, io, interfaces }: CgroupReading) {
  const finite = (value: number) => (Number.isFinite(value) ? value : undefined);
  return {
    creation_time: formatTimestamp(createdAt),
    ...(pod && {
      labels: {
        'io.kubernetes.pod.uid': pod.uid,
        'io.kubernetes.pod.name': pod.name,
        'io.kubernetes.pod.namespace': pod.namespace,
        ...(container !== '' && { 'io.kubernetes.container.name': container }),
      },
    }),
    has_cpu: cpu !== undefined,
    cpu: { limit: spec.cpu?.shares ?? 0, max_limit: 0, period: spec.cpu?.period, quota: spec.cpu?.quota },
    has_memory: memory !== undefined,
    memory: {
      limit: finite(spec.memory?.limit ?? 0),
      reservation: finite(spec.memory?.reservation ?? 0),
      swap_limit: finite(spec.memory?.swapLimit ?? 0),
    },
    has_network: interfaces !== undefined,
    has_processes: true,
    has_filesystem: false,
    has_diskio: io !== undefined,
    has_custom_metrics: false,
    ...(image !== '' && { image }),
  };
}

function statsOf({ time, cpu, memory, io, interfaces, processes, files, sockets, tasks, spec }: CgroupReading): object {
  return {
    timestamp: formatTimestamp(time),
    ...(cpu && {
      cpu: {
        usage: { total: cpu.usage, user: cpu.user, system: cpu.system },
        cfs: { periods: cpu.periods, throttled_periods: cpu.throttledPeriods, throttled_time: cpu.throttled },
        load_average: 0,
      },
    }),
    ...(memory && {
      memory: {
        usage: memory.usage,
        max_usage: memory.peak,
        cache: memory.cache,
        rss: memory.rss,
        swap: memory.swap,
        mapped_file: memory.mappedFile,
        working_set: memory.workingSet,
        failcnt: memory.failures,
        total_active_file: memory.activeFile,
        total_inactive_file: memory.inactiveFile,
        hierarchical_data: { pgfault: memory.pageFaults, pgmajfault: memory.majorPageFaults },
      },
    }),
    ...(interfaces && { network: { ...interfaces.map(networkOf)[0], interfaces: interfaces.map(networkOf) } }),
    ...(io && { diskio: { io_service_bytes: io.bytes.map(diskOf), io_serviced: io.serviced.map(diskOf) } }),
    processes: {
      process_count: processes,
      fd_count: files,
      socket_count: sockets,
      threads_current: tasks ?? 0,
      threads_max: tasks === undefined ? 0 : spec.tasks,
    },
  };
}

const diskOf = ({ major, minor, operations }: DiskCounters) => ({ major, minor, stats: operations });

type Interface = NonNullable<CgroupReading['interfaces']>[number];
const networkOf = (card: Interface) => ({
  name: card.name,
  ...{ rx_bytes: card.rxBytes, rx_packets: card.rxPackets, rx_errors: card.rxErrors, rx_dropped: card.rxDropped },
  ...{ tx_bytes: card.txBytes, tx_packets: card.txPackets, tx_errors: card.txErrors, tx_dropped: card.txDropped },
});

/** The second version: a spec and statistics by name. */
export function containersByName(infos: readonly CadvisorContainer[]): Readonly<Record<string, object>> {
  return Object.fromEntries(
    infos.map(({ name, aliases, namespace, spec, stats }) => [
      name,
      {
        spec: { ...spec, aliases, namespace },
        stats: stats.map((one) => ({ ...one, has_cpu: true, has_memory: true })),
      },
    ]),
  );
}
