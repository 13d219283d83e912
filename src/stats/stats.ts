/**
 * The front door of statistics: what the node, its pods and their containers use, read from the kernel and the runtime when someone
 * asks. See docs/statistics.md.
 */
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Machine } from '../model/machine.ts';
import type { ImageDisk, PodUsages, SignalReadings } from '../model/usage.ts';
import { type CadvisorDeps, createCadvisor } from './cadvisor.ts';
import { metricText } from './cadvisor-text.ts';
import type { CgroupPlaces, KernelFilesPort, MachineSize } from './cgroup-files.ts';
import { type Collector, createCollector } from './collector.ts';
import { createComplaints } from './complaints.ts';
import { measureLayers } from './measured-layers.ts';
import { createNodeDisks } from './node-storage.ts';
import { createPageReads, type PageReads } from './page-reads.ts';
import { computeKubeletMetrics } from './rules/kubelet-metrics.ts';
import type { Depth } from './rules/needed-files.ts';
import { computeResourceMetrics } from './rules/resource-metrics.ts';
import { runtimeReadings } from './rules/runtime-metrics.ts';
import { needsProcesses, type Selection } from './rules/selection.ts';
import { computeSummary, type Summary } from './rules/summary.ts';
import { type NodeGroups, planTargets, type StatsPod } from './rules/targets.ts';
import { computePodUsages, computeSignals } from './rules/usage.ts';
import { createRuntimeSource, type RuntimeSource, type RuntimeStatsPort } from './runtime-source.ts';
import { createStorage, type StoragePaths, type StoragePorts } from './storage.ts';

export interface StatsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Pick<Supervisor, 'run'>;
  /** Given what to call when a file is there and can't be read. */
  readonly kernelFiles: (onFailure: (path: string, error: unknown) => void) => KernelFilesPort;
  readonly places: CgroupPlaces;
  readonly pods: () => readonly StatsPod[];
  readonly groups: () => NodeGroups;
  readonly storage: Omit<StoragePorts, 'now' | 'complain'>;
  /** Undefined: what pods use is read from cgroups. */
  readonly runtimeStats?: RuntimeStatsPort | undefined;
  readonly machine: Machine;
  readonly mounts: CadvisorDeps['mounts'];
  readonly sandboxImage: CadvisorDeps['sandboxImage'];
  readonly oomKills: CadvisorDeps['oomKills'];
  readonly ended: CadvisorDeps['ended'];
  /** Of the whole machine, by the kernel's estimate. */
  readonly memoryAvailable: () => number | undefined;
}

export interface StatsConfig {
  readonly nodeName: string;
  readonly housekeepingMs: number;
  readonly machine: MachineSize;
  readonly paths: StoragePaths;
  readonly podsDirectory: string;
  /** What `/metrics/cadvisor` shows. */
  readonly selection: Selection;
  /** Page cache does not count as used memory in decisions about pressure. */
  readonly withoutCache: boolean;
}

export interface Stats extends Part, PageReads {
  /** For decisions about pressure: what is free on the node, and what each pod uses. */
  readonly usage: {
    signals(signal: AbortSignal): Promise<SignalReadings>;
    /** `measure`: with the sizes of local volumes as they are now. */
    pods(signal: AbortSignal, options?: { readonly measure?: boolean }): Promise<PodUsages>;
    imageDisk(): ImageDisk;
  };
  /** `/stats/summary` */
  summary(query: URLSearchParams, signal: AbortSignal): Promise<Summary>;
  /** `/metrics/cadvisor`, a family at a time. */
  cadvisorMetrics(signal: AbortSignal): AsyncIterable<string>;
  /** What `/metrics` shows of logs and volumes. */
  kubeletMetrics(signal: AbortSignal): Promise<string>;
  /** `/spec/` */
  spec(signal: AbortSignal): Promise<object>;
  /** `/metrics/resource` */
  resourceMetrics(signal: AbortSignal): Promise<string>;
}

export function createStats(deps: StatsDeps, config: StatsConfig): Stats {
  const { clock, log } = deps;
  const complain = createComplaints(log, clock.mono);
  const files = deps.kernelFiles(complain);
  const ports = { ...deps.storage, now: clock.now, complain };
  const storage = createStorage(ports, config.paths);
  const nodeDisks = createNodeDisks(ports, config.paths.root);
  const targets = () => planTargets(deps.groups(), deps.pods());
  const pressure = () => hasPressure(deps.places, files);
  const collector = createCollector(
    { clock, supervisor: deps.supervisor, files, places: deps.places, machine: config.machine, targets },
    { intervalMs: config.housekeepingMs },
  );

  const runtimeSource = createRuntimeSource(deps.runtimeStats, complain);
  const readPods = podReader(collector, runtimeSource);
  const cadvisor = createCadvisor({
    ...deps,
    read: files.read,
    complain,
    fileSystem: deps.storage.fileSystem,
    selection: config.selection,
    podsDirectory: config.podsDirectory,
    hasPressure: pressure,
  });

  return {
    name: 'statistics',
    start: collector.start,
    stop: async () => {
      storage.stop();
      await collector.stopped();
    },
    usage: {
      signals: async (signal) => {
        const groups = deps.groups();
        const readings = await collector.read(planTargets(groups, []), 'basic', signal);
        const rule = { withoutCache: config.withoutCache, machineAvailable: deps.memoryAvailable() };
        return computeSignals(readings, groups, rule, await nodeDisks.read(signal));
      },
      pods: async (signal, { measure = false } = {}) => {
        const pods = deps.pods();
        // The runtime measures layers every ten seconds, and volumes are measured every minute.
        const [layers] = measure
          ? await Promise.all([measureLayers({ clock, ports }, pods, signal), ports.measureVolumes(signal)])
          : [undefined];
        const readings = await collector.read(planTargets(deps.groups(), pods), 'processes', signal);
        const rule = { layers, withoutCache: config.withoutCache };
        return computePodUsages(pods, readings, await storage.read(pods, signal), rule);
      },
      imageDisk: nodeDisks.imageDisk,
    },
    ...createPageReads({ clock, files, collector, pods: deps.pods, groups: deps.groups, hasPressure: pressure }),
    summary: async (query, signal) => {
      const [pods, groups] = [deps.pods(), deps.groups()];
      const isWhole = query.get('only_cpu_and_memory') !== 'true';
      // The runtime takes its time to answer: cgroups are read meanwhile.
      const [{ readings, runtime }, stored] = await Promise.all([
        readPods(groups, pods, 'rates', signal),
        isWhole ? storage.read(pods, signal) : undefined,
      ]);
      return computeSummary({
        nodeName: config.nodeName,
        bootedAt: config.machine.bootedAt,
        groups,
        pods,
        readings,
        runtime: runtime && { pods: runtime, now: clock.now() },
        storage: stored,
      });
    },
    kubeletMetrics: async (signal) =>
      computeKubeletMetrics(await storage.measure(deps.pods(), signal))
        .map(metricText)
        .join(''),
    spec: (signal) => cadvisor.spec(signal),
    cadvisorMetrics: async function* (signal) {
      const ofRuntime = await runtimeSource.families(config.selection, signal);
      if (ofRuntime !== undefined) return yield* cadvisor.withMachine(ofRuntime, signal);
      const all = targets();
      const depth = needsProcesses(config.selection) ? 'all' : 'metrics';
      yield* cadvisor.families(all, await collector.read(all, depth, signal), signal);
    },
    resourceMetrics: async (signal) => {
      const [pods, groups] = [deps.pods(), deps.groups()];
      const { readings, runtime } = await readPods(groups, pods, 'basic', signal);
      const all = runtime === undefined ? readings : new Map([...readings, ...runtimeReadings(pods, runtime)]);
      return computeResourceMetrics(pods, all).map(metricText).join('');
    },
  };
}

/** Of pods that the runtime reports, no cgroup is read. */
function podReader(collector: Collector, runtimeSource: RuntimeSource) {
  return async (groups: NodeGroups, pods: readonly StatsPod[], depth: Depth, signal: AbortSignal) => {
    const runtime = await runtimeSource.pods(signal);
    const others = pods.filter(({ sandbox }) => sandbox === undefined || !runtime?.has(sandbox.id));
    return { runtime, readings: await collector.read(planTargets(groups, others), depth, signal) };
  };
}

/** Only the second generation of cgroups measures it, and only where the kernel was started with it on. */
function hasPressure(places: CgroupPlaces, files: KernelFilesPort): boolean {
  const unified = places.directory('/', '');
  return unified !== undefined && files.read(`${unified}/cpu.pressure`) !== undefined;
}
