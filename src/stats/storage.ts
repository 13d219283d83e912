/** What pods, images and the node take on disks: from the runtime, from the file systems, from directories of logs. */
import { type Complain, orUndefined } from './complaints.ts';
import { createKeptUses } from './kept-uses.ts';
import { createRecentLayers } from './recent-layers.ts';
import type { MeasuredPod } from './rules/kubelet-metrics.ts';
import type { FsFacts, NodeStorage, PodStorage, VolumeFacts } from './rules/summary.ts';
import type { StatsPod } from './rules/targets.ts';

/** A file system as a whole. */
export interface FileSystem {
  /** Tells file systems apart. */
  readonly device: number;
  readonly capacityBytes: number;
  readonly freeBytes: number;
  /** What programs without special rights may still write. */
  readonly availableBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

/** What a container or the images take, as the runtime says. */
export interface RuntimeUse {
  readonly time: number;
  readonly usedBytes: number | undefined;
  readonly inodesUsed: number | undefined;
  /** A path on the file system that it is on. */
  readonly mountPoint: string | undefined;
}

export interface DirectoryUse {
  readonly bytes: number;
  readonly inodes: number;
}

/** Paths on the file systems of images and of writable layers. */
export interface ImagePlaces {
  readonly images: string | undefined;
  readonly layers: string | undefined;
}

export interface StoragePorts {
  readonly now: () => number;
  readonly complain: Complain;
  /** By the id of the container. */
  readonly writableLayers: (signal: AbortSignal) => Promise<ReadonlyMap<string, RuntimeUse>>;
  readonly images: (signal: AbortSignal) => Promise<RuntimeUse | undefined>;
  /** The writable layer of a container as it is now; undefined where only the runtime knows it. */
  readonly measureLayer: (id: string, signal: AbortSignal) => Promise<DirectoryUse | undefined>;
  readonly imagePlaces: (signal: AbortSignal) => Promise<ImagePlaces>;
  /** Undefined: there is no such path here. */
  readonly fileSystem: (path: string) => Promise<FileSystem | undefined>;
  /** Bytes and inodes of the files directly in a directory, or of one file. */
  readonly filesUse: (path: string) => Promise<{ readonly bytes: number; readonly inodes: number }>;
  readonly volumes: (uid: string) => readonly VolumeFacts[];
  /** Measures local volumes now instead of at their usual pace. */
  readonly measureVolumes: (signal: AbortSignal) => Promise<void>;
  readonly tasks: () => { readonly limit: number | undefined; readonly current: number | undefined };
}

export interface StoragePaths {
  /** `--root-dir`: the node's file system is the one that it is on. */
  readonly root: string;
  /** Of one pod. */
  readonly logs: (pod: StatsPod) => string;
  readonly hostsFile: (pod: StatsPod) => string;
}

/** One after the other on few threads is as fast, and leaves threads to others. */
const PODS_AT_ONCE = 2;
/** Logs grow all the time; several pages of one scrape show the same size. */
const LOGS_KEPT_MS = 5000;
/** The hosts file, and files beside the logs of containers: they hardly ever change. */
const OWN_KEPT_MS = 60_000;

export function createStorage(ports: StoragePorts, paths: StoragePaths) {
  const { complain } = ports;
  const useOf = createKeptUses(ports.filesUse, ports.now);
  const recent = createRecentLayers({
    now: ports.now,
    ask: ports.writableLayers,
    onFailure: (error) => complain('writable layers', error),
  });

  const podStorage = async (pod: StatsPod, shared: Shared, signal: AbortSignal): Promise<PodStorage> => {
    const now = ports.now();
    const orNothing = <T>(what: string, work: () => Promise<T>) => orUndefined({ complain, what, signal }, work);
    const used = async (path: string, keepMs: number): Promise<FsFacts> => {
      const { bytes, inodes } = await useOf(path, keepMs);
      const isEmpty = inodes === 0;
      return {
        ...shared.node,
        time: now,
        usedBytes: isEmpty ? undefined : bytes,
        inodesUsed: isEmpty ? undefined : inodes,
      };
    };
    const directory = paths.logs(pod);
    const logs = new Map<string, FsFacts>();
    for (const { name } of pod.containers) {
      const found = await orNothing(`logs of ${name}`, () => used(`${directory}/${name}`, LOGS_KEPT_MS));
      if (found !== undefined) logs.set(name, found);
    }
    const own = [
      await orNothing('pod logs', () => used(directory, OWN_KEPT_MS)),
      await orNothing('hosts file', () => used(paths.hostsFile(pod), OWN_KEPT_MS)),
    ];
    return {
      rootfs: new Map(
        pod.containers.flatMap(({ id }) => {
          const layer = shared.layers?.get(id);
          return layer === undefined ? [] : [[id, onFileSystem(layer, shared.fileSystems.get(layer.mountPoint ?? ''))]];
        }),
      ),
      logs,
      volumes: ports.volumes(pod.uid),
      own: {
        time: now,
        usedBytes: own.reduce((total, one) => total + (one?.usedBytes ?? 0), 0),
        inodesUsed: own.reduce((total, one) => total + (one?.inodesUsed ?? 0), 0),
      },
    };
  };

  return {
    stop: recent.stop,
    /** Logs and volumes alone. */
    measure: (pods: readonly StatsPod[], signal: AbortSignal) => measureLogs({ ports, paths, useOf }, pods, signal),
    read: async (pods: readonly StatsPod[], signal: AbortSignal): Promise<NodeStorage> => {
      const time = ports.now();
      const orNothing = <T>(what: string, work: () => Promise<T | undefined>) =>
        orUndefined({ complain, what, signal }, work);
      const [layers, images, node] = await Promise.all([
        orNothing('writable layers', () => recent.of(idsOf(pods), signal)),
        orNothing('images', () => ports.images(signal)),
        orNothing('node file system', () => ports.fileSystem(paths.root)),
      ]);
      const places = new Set([images, ...(layers?.values() ?? [])].map((use) => use?.mountPoint ?? ''));
      const fileSystems = new Map<string, FileSystem | undefined>();
      for (const place of places) {
        if (place !== '') fileSystems.set(place, await orNothing(place, () => ports.fileSystem(place)));
      }
      const shared: Shared = { node: wholeFileSystem(node), layers, fileSystems };
      const stored = new Map<string, PodStorage>();
      for (let at = 0; at < pods.length; at += PODS_AT_ONCE) {
        signal.throwIfAborted();
        const some = pods.slice(at, at + PODS_AT_ONCE);
        await Promise.all(some.map(async (pod) => stored.set(pod.uid, await podStorage(pod, shared, signal))));
      }
      const tasks = ports.tasks();
      return {
        node: {
          ...shared.node,
          time,
          usedBytes: node && node.capacityBytes - node.freeBytes,
          inodesUsed: node && node.inodes - node.inodesFree,
        },
        image: images && onFileSystem(images, fileSystems.get(images.mountPoint ?? '')),
        pods: stored,
        rlimit: { time: ports.now(), maxPid: tasks.limit, processes: tasks.current },
      };
    },
  };
}

interface Measuring {
  readonly ports: StoragePorts;
  readonly paths: StoragePaths;
  readonly useOf: ReturnType<typeof createKeptUses>;
}

async function measureLogs(
  { ports, paths, useOf }: Measuring,
  pods: readonly StatsPod[],
  signal: AbortSignal,
): Promise<readonly MeasuredPod[]> {
  const { complain } = ports;
  const measured: MeasuredPod[] = [];
  for (const pod of pods) {
    signal.throwIfAborted();
    const logs = new Map<string, number>();
    for (const { name } of pod.containers) {
      const path = `${paths.logs(pod)}/${name}`;
      const asking = { complain, what: `logs of ${name}`, signal };
      const found = await orUndefined(asking, () => useOf(path, LOGS_KEPT_MS));
      if (found !== undefined && found.inodes > 0) logs.set(name, found.bytes);
    }
    measured.push({ pod, logs, volumes: ports.volumes(pod.uid) });
  }
  return measured;
}

const idsOf = (pods: readonly StatsPod[]) => pods.flatMap(({ containers }) => containers.map(({ id }) => id));

interface Shared {
  readonly node: Omit<FsFacts, 'time'>;
  readonly layers: ReadonlyMap<string, RuntimeUse> | undefined;
  readonly fileSystems: ReadonlyMap<string, FileSystem | undefined>;
}

export function wholeFileSystem(found: FileSystem | undefined): Omit<FsFacts, 'time'> {
  if (found === undefined) return {};
  const { availableBytes, capacityBytes, inodes, inodesFree } = found;
  return { availableBytes, capacityBytes, inodes, inodesFree };
}

function onFileSystem({ time, usedBytes, inodesUsed }: RuntimeUse, found: FileSystem | undefined): FsFacts {
  return { ...wholeFileSystem(found), time, usedBytes, inodesUsed };
}
