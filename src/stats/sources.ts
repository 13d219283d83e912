/** What statistics are made from, as the other parts, the runtime and the kernel have it. */
import type { Config } from '../config/config.ts';
import type { CgroupHierarchy } from '../host/cgroup-mounts.ts';
import type { MountTable } from '../host/mount-table.ts';
import { presentContainer } from '../model/observation.ts';
import type { PodView } from '../model/pod-view.ts';
import type { Pods } from '../pods/pods.ts';
import type { Resources } from '../resources/resources.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import type { Volumes } from '../volumes/volumes.ts';
import type { FilesystemUsage } from '../wire/gen/cri-runtime-v1.ts';
import type { CgroupPlaces } from './cgroup-files.ts';
import { cgroupV1 } from './rules/cgroup-v1.ts';
import { cgroupV2 } from './rules/cgroup-v2.ts';
import { parseMemoryAvailable, parseTaskCount } from './rules/kernel-text.ts';
import type { VolumeFacts } from './rules/summary.ts';
import type { EndedContainer, NodeGroups, StatsPod } from './rules/targets.ts';
import type { RuntimeStatsPort } from './runtime-source.ts';
import { readsRuntimeStats } from './settings.ts';
import type { ImagePlaces, RuntimeUse } from './storage.ts';

/** Reads a file that the kernel makes. */
type ReadKernelFile = (path: string) => string | undefined;

/** Where the files of a cgroup are, for each of its controllers. */
export function cgroupPlaces(hierarchies: readonly CgroupHierarchy[]): CgroupPlaces {
  const older = hierarchies.filter(({ version }) => version === 1);
  const isOld = older.length > 0;
  const places = isOld ? older : hierarchies;
  const byController = new Map(
    older.flatMap(({ controllers, mountPoint }) => controllers.map((one) => [one, mountPoint])),
  );
  const below = (mountPoint: string, path: string) => (path === '/' ? mountPoint : `${mountPoint}${path}`);
  return {
    reader: isOld ? cgroupV1 : cgroupV2,
    directory: (path, controller) => {
      const mountPoint = isOld ? byController.get(controller) : places[0]?.mountPoint;
      return mountPoint === undefined ? undefined : below(mountPoint, path);
    },
    directories: (path) => places.map(({ mountPoint }) => below(mountPoint, path)),
  };
}

/** Views never change, so what is made of one is kept as long as it is; only the driver's names for cgroups may become known later. */
export function createStatsPods(
  { views }: Pick<Pods, 'views'>,
  resources: Pick<Resources, 'podCgroupParent' | 'containerCgroup' | 'groupCgroups'>,
): () => readonly StatsPod[] {
  const made = new WeakMap<PodView, { readonly above: string | undefined; readonly pods: readonly StatsPod[] }>();
  return () => {
    const above = resources.groupCgroups()?.pods;
    return views().flatMap((view) => {
      const known = made.get(view);
      if (known !== undefined && known.above === above) return known.pods;
      const pods = statsPod(view, resources);
      made.set(view, { above, pods });
      return pods;
    });
  };
}

/** Nothing of a pod that has no cgroup, or no sandbox that runs: it uses nothing. */
function statsPod(
  { uid, pod, observation }: PodView,
  resources: Pick<Resources, 'podCgroupParent' | 'containerCgroup'>,
): readonly StatsPod[] {
  const cgroup = resources.podCgroupParent(pod);
  const sandbox = observation.sandboxes.find(({ ready }) => ready);
  if (cgroup === '' || sandbox === undefined) return [];
  const running = observation.containers.filter(
    ({ state, sandboxId }) => state === 'running' && sandboxId === sandbox.id,
  );
  return [
    {
      uid,
      name: pod.metadata.name,
      namespace: pod.metadata.namespace,
      cgroup,
      sandbox: {
        id: sandbox.id,
        createdAt: sandbox.createdAt,
        cgroup: resources.containerCgroup(pod, sandbox.id),
      },
      containers: running.map(({ id, name, image, createdAt }) => ({
        id,
        name,
        image,
        createdAt,
        cgroup: resources.containerCgroup(pod, id),
      })),
    },
  ];
}

/** Containers that do not run and in which processes were killed for lack of memory. */
export function endedContainers(
  { uid, pod, observation }: PodView,
  resources: Pick<Resources, 'containerCgroup'>,
  kills: (uid: string, container: string) => number,
): readonly EndedContainer[] {
  const { name, namespace } = pod.metadata;
  const names = new Set(observation.containers.map((one) => one.name));
  return [...names].flatMap((container) => {
    const oomKills = kills(uid, container);
    const last = oomKills === 0 ? undefined : presentContainer(observation, container);
    if (last === undefined || last.state === 'running') return [];
    const { id, image } = last;
    return [
      { id, image, cgroup: resources.containerCgroup(pod, id), container, pod: { uid, name, namespace }, oomKills },
    ];
  });
}

/** This process is counted where it is, whatever cgroup it was configured to move to. */
export function nodeGroups(
  { settings, kubelet }: Config,
  resources: Pick<Resources, 'groupCgroups'>,
  read: ReadKernelFile,
): NodeGroups {
  const above = resources.groupCgroups();
  const own = ownCgroup(read('/proc/self/cgroup') ?? '');
  const runtime = settings.containers.runtimeCgroups;
  return {
    pods: above?.pods,
    classes: above?.classes ?? [],
    system: {
      ...(own === '/' ? {} : { kubelet: own }),
      ...(runtime === '' ? {} : { runtime }),
      ...(kubelet.systemCgroups === '' ? {} : { misc: kubelet.systemCgroups }),
    },
  };
}

/** In the hierarchy that counts memory, or in the only one. */
function ownCgroup(text: string): string {
  const lines = text.split('\n');
  const found =
    lines.find((line) => /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:/.test(line)) ??
    lines.find((line) => line.startsWith('0::'));
  return found?.replace(/^[^:]*:[^:]*:/, '') ?? '/';
}

/** Undefined: cgroups are read. */
export function runtimeStats(config: Config, { stats }: Pick<CriClient, 'stats'>): RuntimeStatsPort | undefined {
  if (!readsRuntimeStats(config)) return undefined;
  return {
    pods: (signal) => stats.sandboxes(undefined, signal),
    descriptors: stats.metricDescriptors,
    metrics: stats.sandboxMetrics,
  };
}

export async function writableLayers(
  cri: Pick<CriClient, 'stats'>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RuntimeUse>> {
  const found = new Map<string, RuntimeUse>();
  for (const { attributes, writableLayer } of await cri.stats.containers(undefined, signal)) {
    const use = runtimeUse(writableLayer);
    if (attributes !== undefined && use !== undefined) found.set(attributes.id, use);
  }
  return found;
}

const NS_PER_MS = 1_000_000n;

export function runtimeUse(usage: FilesystemUsage | undefined): RuntimeUse | undefined {
  if (usage === undefined) return undefined;
  return {
    time: Number(usage.timestamp / NS_PER_MS),
    usedBytes: usage.usedBytes?.value,
    inodesUsed: usage.inodesUsed?.value,
    mountPoint: usage.fsId?.mountpoint,
  };
}

export interface LayerSources {
  readonly table: MountTable;
  readonly measureTree: (
    path: string,
    signal: AbortSignal,
  ) => Promise<{ readonly usedBytes: number; readonly inodesUsed: number }>;
}

/** The writable layer of a running container, where its root is an overlay that is mounted at a path with its id. Undefined elsewhere. */
export async function measureLayer(
  id: string,
  { table, measureTree }: LayerSources,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly inodes: number } | undefined> {
  const root = table(id).find(({ type, point }) => type === 'overlay' && point.split('/').includes(id));
  const upper = /(?:^|,)upperdir=([^,]+)/.exec(root?.superOptions ?? '')?.[1];
  if (upper === undefined) return undefined;
  const { usedBytes, inodesUsed } = await measureTree(upper, signal);
  return { bytes: usedBytes, inodes: inodesUsed };
}

export const imagePlaces = ({ imageFilesystems, containerFilesystems }: ImageFilesystems): ImagePlaces => ({
  images: imageFilesystems[0]?.fsId?.mountpoint,
  layers: containerFilesystems[0]?.fsId?.mountpoint,
});

interface ImageFilesystems {
  readonly imageFilesystems: readonly FilesystemUsage[];
  readonly containerFilesystems: readonly FilesystemUsage[];
}

/** What containerd adds to the status as JSON; another runtime may add something else. */
export async function sandboxImage(
  cri: Pick<CriClient, 'sandboxes'>,
  id: string,
  signal: AbortSignal,
): Promise<string> {
  const { info } = (await cri.sandboxes.status(id, { verbose: true }, signal))?.info ?? {};
  const parsed: unknown = info === undefined ? undefined : JSON.parse(info);
  const image = typeof parsed === 'object' && parsed !== null && 'image' in parsed ? parsed.image : undefined;
  return typeof image === 'string' ? image : '';
}

export interface VolumeSources {
  readonly pods: Pick<Pods, 'views'>;
  readonly volumes: Pick<Volumes, 'usage'>;
}

export function volumeFacts({ pods, volumes }: VolumeSources, uid: string): readonly VolumeFacts[] {
  const view = pods.views().find((one) => one.uid === uid);
  if (view === undefined) return [];
  const { metadata, spec } = view.pod;
  return volumes.usage.of(view.uid).map(({ volume, limitBytes: _, ...use }) => {
    const wanted = spec.volumes?.find(({ name }) => name === volume);
    const claim =
      wanted?.persistentVolumeClaim?.claimName ?? (wanted?.ephemeral ? `${metadata.name}-${volume}` : undefined);
    const isOnDisk = wanted?.emptyDir !== undefined && (wanted.emptyDir.medium ?? '') === '';
    return {
      ...use,
      name: volume,
      claim: claim === undefined ? undefined : { name: claim, namespace: metadata.namespace },
      isEphemeral: isOnDisk || wanted?.configMap !== undefined,
    };
  });
}

/** Processes and threads of the whole machine. */
export function taskCounts(limit: bigint | undefined, read: ReadKernelFile) {
  return {
    limit: limit === undefined ? undefined : Number(limit),
    current: parseTaskCount(read('/proc/loadavg')),
  };
}

export const memoryAvailable = (read: ReadKernelFile): number | undefined =>
  parseMemoryAvailable(read('/proc/meminfo'));
