/** `/stats/summary`: readings and sizes in the form of the kubelet's statistics API (`stats/v1alpha1`). */
import { formatTimestamp } from '../../api/timestamp.ts';
import type { Pressure } from './kernel-text.ts';
import type { CgroupReading, Readings } from './reading.ts';
import { type RuntimePods, runtimeParts } from './runtime-stats.ts';
import type { NodeGroups, StatsContainer, StatsPod } from './targets.ts';

/** A file system, and the part of it that a pod, a container, a volume or the node uses. */
export interface FsFacts {
  readonly time: number;
  readonly availableBytes?: number | undefined;
  readonly capacityBytes?: number | undefined;
  readonly usedBytes?: number | undefined;
  readonly inodes?: number | undefined;
  readonly inodesFree?: number | undefined;
  readonly inodesUsed?: number | undefined;
}

export interface VolumeFacts extends FsFacts {
  readonly name: string;
  readonly claim: { readonly name: string; readonly namespace: string } | undefined;
  /** It is on the node's disk and counts as the pod's ephemeral storage. */
  readonly isEphemeral: boolean;
}

/** What of a pod is on disks. Absent where only CPU and memory are asked for. */
export interface PodStorage {
  /** By the id of the container. */
  readonly rootfs: ReadonlyMap<string, FsFacts>;
  /** By the name of the container. */
  readonly logs: ReadonlyMap<string, FsFacts>;
  readonly volumes: readonly VolumeFacts[];
  /** Files of the pod itself: its hosts file, logs beside those of containers. */
  readonly own: FsFacts | undefined;
}

export interface NodeStorage {
  readonly node: FsFacts;
  readonly image: FsFacts | undefined;
  readonly pods: ReadonlyMap<string, PodStorage>;
  readonly rlimit: {
    readonly time: number;
    readonly maxPid: number | undefined;
    readonly processes: number | undefined;
  };
}

export interface SummaryInput {
  readonly nodeName: string;
  readonly bootedAt: number;
  readonly groups: NodeGroups;
  readonly pods: readonly StatsPod[];
  readonly readings: Readings;
  /** What the runtime reports of pods, where it is asked; of other pods the cgroups count. */
  readonly runtime?: { readonly pods: RuntimePods; readonly now: number } | undefined;
  /** Undefined: only CPU and memory. */
  readonly storage: NodeStorage | undefined;
}

export interface Summary {
  readonly node: object;
  readonly pods: readonly object[];
}

export function computeSummary(input: SummaryInput): Summary {
  const { nodeName, bootedAt, groups, pods, readings, storage } = input;
  const root = readings.get('/');
  const isWhole = storage !== undefined;
  return {
    node: {
      nodeName,
      systemContainers: systemContainers(groups, readings, isWhole),
      startTime: formatTimestamp(isWhole ? bootedAt : (root?.createdAt ?? bootedAt)),
      ...(root === undefined ? {} : { ...cgroupParts(root, isWhole), ...(isWhole ? networkPart(root) : {}) }),
      ...(storage === undefined
        ? {}
        : {
            fs: fsPart(storage.node),
            runtime:
              storage.image === undefined ? {} : { imageFs: fsPart(storage.image), containerFs: fsPart(storage.image) },
            rlimit: {
              time: formatTimestamp(storage.rlimit.time),
              maxpid: storage.rlimit.maxPid,
              curproc: storage.rlimit.processes,
            },
          }),
    },
    pods: pods
      .filter(({ containers, sandbox }) => containers.length > 0 && sandbox !== undefined)
      .map((pod) => podPart(pod, input)),
  };
}

function systemContainers(groups: NodeGroups, readings: Readings, isWhole: boolean): readonly object[] {
  const named = Object.entries({ ...groups.system, ...(groups.pods === undefined ? {} : { pods: groups.pods }) });
  return named.flatMap(([name, path]) => {
    const reading = readings.get(path);
    if (reading === undefined) return [];
    return [{ name, startTime: formatTimestamp(reading.createdAt), ...cgroupParts(reading, isWhole) }];
  });
}

function podPart(pod: StatsPod, input: SummaryInput): object {
  const { uid, name, namespace, sandbox, containers } = pod;
  const { storage } = input;
  const stored = storage?.pods.get(uid);
  const parts = runtimePod(pod, input) ?? cgroupPod(pod, input);
  const shown = containers.filter(({ id }) => parts.containers.has(id));
  return {
    podRef: { name, namespace, uid },
    startTime: formatTimestamp(sandbox?.createdAt ?? 0),
    containers: shown.map((one) => containerPart(one, parts.containers.get(one.id), stored)),
    ...parts.pod,
    ...(storage === undefined || stored === undefined ? {} : podStorageParts(stored, shown, storage.node)),
  };
}

/** What a pod and its containers use, beside disks. */
interface PodParts {
  /** By the id of the container. */
  readonly containers: ReadonlyMap<string, object>;
  readonly pod: object;
}

function runtimePod({ sandbox }: StatsPod, { runtime, storage }: SummaryInput): PodParts | undefined {
  const stats = sandbox && runtime?.pods.get(sandbox.id);
  return stats && runtime && runtimeParts(stats, storage !== undefined, runtime.now);
}

function cgroupPod({ cgroup, sandbox, containers }: StatsPod, { readings, storage }: SummaryInput): PodParts {
  const isWhole = storage !== undefined;
  const own = readings.get(cgroup);
  const sandboxReading = sandbox && readings.get(sandbox.cgroup);
  const found = containers.flatMap(({ id, cgroup: path }) => {
    const reading = readings.get(path);
    return reading === undefined ? [] : [{ id, reading }];
  });
  return {
    containers: new Map(found.map(({ id, reading }) => [id, cgroupParts(reading, isWhole)])),
    pod: {
      ...(own === undefined ? {} : cgroupParts(own, isWhole)),
      ...(isWhole && {
        ...(sandboxReading === undefined ? {} : networkPart(sandboxReading)),
        process_stats: { process_count: sum(found.map(({ reading }) => reading.processes)) },
      }),
    },
  };
}

function containerPart(
  { id, name, createdAt }: StatsContainer,
  uses: object | undefined,
  stored: PodStorage | undefined,
): object {
  const [rootfs, logs] = [stored?.rootfs.get(id), stored?.logs.get(name)];
  return {
    name,
    startTime: formatTimestamp(createdAt),
    ...uses,
    ...(rootfs === undefined ? {} : { rootfs: fsPart(rootfs) }),
    ...(logs === undefined ? {} : { logs: fsPart(logs) }),
  };
}

function cgroupParts({ time, cpu, memory, io, spec, nanoCores }: CgroupReading, withIo: boolean): object {
  const at = formatTimestamp(time);
  const limits = spec.memory;
  return {
    ...(cpu && {
      cpu: { time: at, usageNanoCores: nanoCores ?? 0, usageCoreNanoSeconds: cpu.usage, psi: psiPart(cpu.pressure) },
    }),
    ...(memory && {
      memory: {
        time: at,
        ...(limits === undefined || !Number.isFinite(limits.limit)
          ? {}
          : { availableBytes: Math.max(limits.limit - memory.workingSet, 0) }),
        usageBytes: memory.usage,
        workingSetBytes: memory.workingSet,
        rssBytes: memory.rss,
        pageFaults: memory.pageFaults,
        majorPageFaults: memory.majorPageFaults,
        psi: psiPart(memory.pressure),
      },
    }),
    ...(withIo && io && { io: { time: at, psi: psiPart(io.pressure) } }),
    ...(memory && {
      swap: {
        time: at,
        ...(limits === undefined || !Number.isFinite(limits.swapLimit)
          ? {}
          : { swapAvailableBytes: Math.max(limits.swapLimit - memory.swap, 0) }),
        swapUsageBytes: memory.swap,
      },
    }),
  };
}

const psiPart = ({ full, some }: Pressure) => ({ full, some });

/** The interface that most pods have, shown also by itself. */
const DEFAULT_INTERFACE = 'eth0';

function networkPart({ time, interfaces }: CgroupReading): object {
  if (interfaces === undefined) return {};
  const all = interfaces.map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({
    name,
    rxBytes,
    rxErrors,
    txBytes,
    txErrors,
  }));
  const first = all.find(({ name }) => name === DEFAULT_INTERFACE) ?? { name: '' };
  return { network: { time: formatTimestamp(time), ...first, interfaces: all } };
}

function fsPart({ time, ...sizes }: FsFacts): object {
  const { availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed } = sizes;
  return { time: formatTimestamp(time), availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed };
}

function podStorageParts(stored: PodStorage, containers: readonly StatsContainer[], node: FsFacts): object {
  const ephemeral = stored.volumes.filter(({ isEphemeral }) => isEphemeral);
  const volumes = [...ephemeral, ...stored.volumes.filter(({ isEphemeral }) => !isEphemeral)];
  const parts = [
    ...containers.flatMap(({ id, name }) => [stored.rootfs.get(id), stored.logs.get(name)]),
    ...ephemeral,
    stored.own,
  ].filter((part) => part !== undefined);
  const total = {
    ...node,
    time: Math.max(node.time, ...parts.map(({ time }) => time)),
    usedBytes: sum(parts.map(({ usedBytes }) => usedBytes ?? 0)),
    inodesUsed: sum(parts.map(({ inodesUsed }) => inodesUsed ?? 0)),
  };
  return {
    ...(volumes.length === 0
      ? {}
      : {
          volume: volumes.map(({ name, claim, isEphemeral: _, ...fs }) => ({
            ...fsPart(fs),
            name,
            ...(claim && { pvcRef: claim }),
          })),
        }),
    'ephemeral-storage': fsPart(total),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
