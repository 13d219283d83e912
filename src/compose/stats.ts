/** The part of the composition root that measures: what statistics need of pods, cgroups, the runtime, disks and the machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod } from '../api/pod.ts';
import type { Config } from '../config/config.ts';
import { processLimit } from '../host/capacity.ts';
import { type CgroupHierarchy, parseCgroupMounts } from '../host/cgroup-mounts.ts';
import { filesUse, readFileSystem } from '../host/disk.ts';
import { createKernelFiles } from '../host/kernel-files.ts';
import { cpuTopology, memoryBytes, onlineCpus } from '../host/machine.ts';
import { readMountTable } from '../host/mount-table.ts';
import { readOwnProcess } from '../host/own-process.ts';
import type { PodView } from '../model/pod-view.ts';
import type { Resources } from '../resources/resources.ts';
import type { CriClient } from '../runtime/cri/client.ts';
import { podLogDirectory } from '../runtime/spec/sandbox.ts';
import type { CgroupPlaces } from '../stats/cgroup-files.ts';
import { cgroupV1 } from '../stats/rules/cgroup-v1.ts';
import { cgroupV2 } from '../stats/rules/cgroup-v2.ts';
import { parseTaskCount } from '../stats/rules/kernel-text.ts';
import type { VolumeFacts } from '../stats/rules/summary.ts';
import type { NodeGroups, StatsPod } from '../stats/rules/targets.ts';
import { createStats, type Stats } from '../stats/stats.ts';
import type { RuntimeUse } from '../stats/storage.ts';
import type { FilesystemUsage } from '../wire/gen/cri-runtime-v1.ts';
import type { PartDeps } from './compose.ts';
import { nodeNameOf, readMachine } from './node.ts';
import type { PodParts } from './pods.ts';

export interface StatsTools {
  readonly cri: CriClient;
  readonly parts: Pick<PodParts, 'pods' | 'volumes' | 'resources'>;
}

export function composeStats(config: Config, { clock, log, supervisor }: PartDeps, { cri, parts }: StatsTools): Stats {
  const { kubelet, settings } = config;
  const { root } = settings.directories;
  const identity = readMachine(config);
  const { bootedAtSeconds } = readOwnProcess();
  const size = { memory: Number(memoryBytes()), swap: identity.swap };
  const views = () => parts.pods.views();
  return createStats(
    {
      clock,
      log: log.named('stats'),
      supervisor,
      kernelFiles: createKernelFiles,
      places: cgroupPlaces(parseCgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'))),
      pods: () => views().flatMap((view) => statsPod(view, parts.resources)),
      groups: () => nodeGroups(config, parts.resources),
      storage: {
        writableLayers: (signal) => writableLayers(cri, signal),
        images: async (signal) => runtimeUse((await cri.images.fsInfo(signal)).imageFilesystems[0]),
        fileSystem: readFileSystem,
        filesUse,
        volumes: (uid) => volumeFacts(parts, uid),
        tasks: () => {
          const limit = processLimit();
          return {
            limit: limit === undefined ? undefined : Number(limit),
            current: parseTaskCount(readFileSync('/proc/loadavg', 'utf8')),
          };
        },
      },
      machine: () => ({ ...identity, ...size, ...cpuTopology(), cpus: onlineCpus().length }),
      mounts: readMountTable,
      sandboxImage: (id, signal) => sandboxImage(cri, id, signal),
    },
    {
      nodeName: nodeNameOf(config),
      housekeepingMs: settings.cadvisor.housekeepingInterval,
      machine: { ...size, bootedAt: bootedAtSeconds * 1000 },
      paths: {
        root,
        logs: ({ uid, name, namespace }) =>
          podLogDirectory(kubelet.podLogsDir, { metadata: { uid, name, namespace } } as Pod),
        hostsFile: ({ uid }) => join(root, 'pods', uid, 'etc-hosts'),
      },
      podsDirectory: join(root, 'pods'),
    },
  );
}

function cgroupPlaces(hierarchies: readonly CgroupHierarchy[]): CgroupPlaces {
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

/** Nothing of a pod that has no cgroup, or no sandbox that runs: it uses nothing. */
function statsPod({ uid, pod, observation }: PodView, resources: Resources): readonly StatsPod[] {
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

/** This process is counted where it is, whatever cgroup it was configured to move to. */
function nodeGroups({ settings }: Config, resources: Resources): NodeGroups {
  const above = resources.groupCgroups();
  const own = ownCgroup();
  const runtime = settings.containers.runtimeCgroups;
  return {
    pods: above?.pods,
    classes: above?.classes ?? [],
    system: { ...(own === '/' ? {} : { kubelet: own }), ...(runtime === '' ? {} : { runtime }) },
  };
}

/** In the hierarchy that counts memory, or in the only one. */
function ownCgroup(): string {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  const found =
    lines.find((line) => /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:/.test(line)) ??
    lines.find((line) => line.startsWith('0::'));
  return found?.replace(/^[^:]*:[^:]*:/, '') ?? '/';
}

async function writableLayers(cri: CriClient, signal: AbortSignal): Promise<ReadonlyMap<string, RuntimeUse>> {
  const found = new Map<string, RuntimeUse>();
  for (const { attributes, writableLayer } of await cri.stats.containers(undefined, signal)) {
    const use = runtimeUse(writableLayer);
    if (attributes !== undefined && use !== undefined) found.set(attributes.id, use);
  }
  return found;
}

const NS_PER_MS = 1_000_000n;

function runtimeUse(usage: FilesystemUsage | undefined): RuntimeUse | undefined {
  if (usage === undefined) return undefined;
  return {
    time: Number(usage.timestamp / NS_PER_MS),
    usedBytes: usage.usedBytes?.value,
    inodesUsed: usage.inodesUsed?.value,
    mountPoint: usage.fsId?.mountpoint,
  };
}

/** What containerd adds to the status as JSON; another runtime may add something else. */
async function sandboxImage(cri: CriClient, id: string, signal: AbortSignal): Promise<string> {
  const { info } = (await cri.sandboxes.status(id, { verbose: true }, signal))?.info ?? {};
  const told: unknown = info === undefined ? undefined : JSON.parse(info);
  const image = typeof told === 'object' && told !== null && 'image' in told ? told.image : undefined;
  return typeof image === 'string' ? image : '';
}

function volumeFacts({ pods, volumes }: StatsTools['parts'], uid: string): readonly VolumeFacts[] {
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
