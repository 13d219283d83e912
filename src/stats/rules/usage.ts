/** Readings as decisions about pressure need them: what is free on the node, and what each pod uses. */
import { podUid } from '../../api/ids.ts';
import type { DiskUse, EvictionSignal, PodUsage, PodUsages, SignalReading, SignalReadings } from '../../model/usage.ts';
import type { CgroupReading, Readings } from './reading.ts';
import type { MemorySample } from './sample.ts';
import type { FsFacts, NodeStorage } from './summary.ts';
import type { NodeGroups, StatsPod } from './targets.ts';

/** What counts as used memory. */
export interface MemoryRule {
  /** Only what can not be dropped; otherwise the working set, to which page cache belongs that was read more than once. */
  readonly withoutCache: boolean;
  /** Bytes that are available on the whole machine, by the kernel's estimate; used only with `withoutCache`. */
  readonly machineAvailable: number | undefined;
}

export function computeSignals(
  readings: Readings,
  groups: NodeGroups,
  { withoutCache, machineAvailable }: MemoryRule,
  storage: Pick<NodeStorage, 'node' | 'image' | 'rlimit'> & { readonly layers: FsFacts | undefined },
): SignalReadings {
  const { node, image, layers, rlimit } = storage;
  const found: readonly (readonly [EvictionSignal, SignalReading | undefined])[] = [
    ['memory.available', memory(readings.get('/'), withoutCache, machineAvailable)],
    [
      'allocatableMemory.available',
      groups.pods === undefined ? undefined : memory(readings.get(groups.pods), withoutCache),
    ],
    ['nodefs.available', reading(node.availableBytes, node.capacityBytes, node.time)],
    ['nodefs.inodesFree', reading(node.inodesFree, node.inodes, node.time)],
    ['imagefs.available', reading(image?.availableBytes, image?.capacityBytes, image?.time)],
    ['imagefs.inodesFree', reading(image?.inodesFree, image?.inodes, image?.time)],
    ['containerfs.available', reading(layers?.availableBytes, layers?.capacityBytes, layers?.time)],
    ['containerfs.inodesFree', reading(layers?.inodesFree, layers?.inodes, layers?.time)],
    [
      'pid.available',
      rlimit.maxPid === undefined || rlimit.processes === undefined
        ? undefined
        : reading(rlimit.maxPid - rlimit.processes, rlimit.maxPid, rlimit.time),
    ],
  ];
  return new Map(found.flatMap(([signal, value]) => (value === undefined ? [] : [[signal, value]])));
}

function memory(found: CgroupReading | undefined, withoutCache: boolean, estimate?: number): SignalReading | undefined {
  const limit = found?.spec.memory?.limit;
  if (found?.memory === undefined || limit === undefined || !Number.isFinite(limit)) return undefined;
  const { time } = found;
  const { workingSet, usage: usedBytes } = found.memory;
  if (!withoutCache) {
    const available = Math.max(limit - workingSet, 0);
    return { available, capacity: available + workingSet, time, usedBytes };
  }
  const available = estimate ?? limit - (usedMemory(found.memory, true) ?? 0);
  return { available: Math.min(Math.max(available, 0), limit), capacity: limit, time, usedBytes };
}

function reading(
  available: number | undefined,
  capacity: number | undefined,
  time: number | undefined,
): SignalReading | undefined {
  if (available === undefined || capacity === undefined || time === undefined) return undefined;
  return { available, capacity, time };
}

/** `layers`: sizes of writable layers that are newer than those of the runtime, by the id of the container. */
export function computePodUsages(
  pods: readonly StatsPod[],
  readings: Readings,
  storage: NodeStorage,
  {
    layers = new Map(),
    withoutCache,
  }: { readonly layers?: ReadonlyMap<string, DiskUse> | undefined } & Pick<MemoryRule, 'withoutCache'>,
): PodUsages {
  const memoryOf = (cgroup: string) => usedMemory(readings.get(cgroup)?.memory, withoutCache);
  return new Map(pods.map((pod) => [podUid(pod.uid), computePodUsage(pod, { readings, storage, layers, memoryOf })]));
}

const usedMemory = (sample: MemorySample | undefined, withoutCache: boolean): number | undefined =>
  sample && (withoutCache ? Math.max(sample.workingSet - sample.activeFile, 0) : sample.workingSet);

function computePodUsage(
  pod: StatsPod,
  {
    readings,
    storage,
    layers,
    memoryOf,
  }: {
    readonly readings: Readings;
    readonly storage: NodeStorage;
    readonly layers: ReadonlyMap<string, DiskUse>;
    readonly memoryOf: (cgroup: string) => number | undefined;
  },
): PodUsage {
  const stored = storage.pods.get(pod.uid);
  const containers = pod.containers.map(({ id, name, cgroup }) => ({
    name,
    memory: memoryOf(cgroup),
    rootfs: layers.get(id) ?? diskUse(stored?.rootfs.get(id)),
    logs: diskUse(stored?.logs.get(name)),
  }));
  const volumes = new Map(
    (stored?.volumes ?? []).map((volume) => [
      volume.name,
      { ...(diskUse(volume) ?? { bytes: 0, inodes: 0 }), isLocal: volume.isEphemeral },
    ]),
  );
  const local = [...volumes.values()].filter(({ isLocal }) => isLocal);
  const parts = [...containers.flatMap(({ rootfs, logs }) => [rootfs, logs]), ...local, diskUse(stored?.own)];
  return {
    uid: podUid(pod.uid),
    memory: memoryOf(pod.cgroup),
    processes: pod.containers.reduce((sum, { cgroup }) => sum + (readings.get(cgroup)?.processes ?? 0), 0),
    containers,
    volumes,
    ephemeralBytes: stored === undefined ? undefined : parts.reduce((sum, part) => sum + (part?.bytes ?? 0), 0),
  };
}

function diskUse(fs: FsFacts | undefined): DiskUse | undefined {
  if (fs?.usedBytes === undefined) return undefined;
  return { bytes: fs.usedBytes, inodes: fs.inodesUsed ?? 0 };
}
