/** A node with small disks of its own, pods that use it up, and what became of them: the same for both kubelets. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Pod } from '../../src/api/pod.ts';
import type { ApiObject } from '../lab/cluster/api.ts';
import type { ClusterOptions } from '../lab/cluster/cluster.ts';
import { startCriProxy } from '../lab/cri-proxy.ts';
import type { LabNode } from '../lab/lab.ts';
import { runs } from '../node/pod-support.ts';
import { conditionOf, eventually, NODE, PODS, type PodCluster, phaseIs, podCluster, podIn } from './pods-support.ts';

const MI = 1 << 20;
/** How much of each resource the pods of a scenario may use before the node is short of it. */
const ROOM = { diskMi: 300, inodes: 6000, memoryMi: 900, processes: 1500 } as const;

export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';
export type KubeletKind = 'ours' | 'reference';

export interface Ending {
  readonly phase: string | undefined;
  readonly reason: string | undefined;
  readonly message: string;
  readonly disruption: readonly (string | undefined)[];
  readonly events: readonly string[];
}

/** What happened, without what differs from run to run. */
export interface Outcome {
  /** The pods that did not survive. */
  readonly endings: Readonly<Record<string, Ending>>;
  /** Pods beside the victims that do not run any more, and why. */
  readonly lost: readonly string[];
  /** A pod that came while the node was short. */
  readonly late: Ending | undefined;
  readonly taints: readonly string[];
}

export interface Scenario {
  readonly pressure: Pressure;
  /** Specs by name. */
  readonly pods: Readonly<Record<string, object>>;
  /** Those that are expected to end; without any, the node frees enough by itself. */
  readonly victims: readonly string[];
}

/** Without the numbers that differ from run to run. */
export const words = (text = ''): string =>
  text.replace(/(quantity: |available: |using )\d+(?:\.\d+)?[a-zA-Z]*/g, '$1N');

export interface EvictionWorld {
  readonly world: PodCluster;
  /** Uses up some at once, and more when statistics have been made of that. */
  use(container: { first: string; later?: string; mounts?: readonly string[] }, more?: object): object;
  play(scenario: Scenario): Promise<Outcome>;
  nodeEvents(): Promise<readonly string[]>;
}

/** Numbers of the world before its kubelet runs, so that thresholds are as far away as the pods can go, and no further. */
async function measure(node: LabNode) {
  const disk = async (path: string) => {
    const { stdout } = await node.exec(['stat', '--file-system', '--format=%a %S %d', path]);
    const [blocks = 0, size = 0, inodes = 0] = stdout.trim().split(' ').map(Number);
    return { available: blocks * size, inodes };
  };
  const memory = node.world.hierarchies.mounts.find((mount) => mount.endsWith('/memory')) ?? '';
  const read = (name: string) => readFileSync(join(memory, node.world.cgroup, name), 'utf8');
  const inactive = Number(/^total_inactive_file (\d+)/m.exec(read('memory.stat'))?.[1]);
  return {
    total: Number(/MemTotal:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024,
    used: Number(read('memory.usage_in_bytes')) - inactive,
    processes: Number(/\/(\d+) /.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1]),
    processLimit: Math.min(
      ...['pid_max', 'threads-max'].map((name) => Number(readFileSync(`/proc/sys/kernel/${name}`, 'utf8'))),
    ),
    node: await disk('/var/lib/kubelet'),
    images: await disk(node.containerd.root),
  };
}

const IMAGE_FS_INFO = '/runtime.v1.ImageService/ImageFsInfo';

/**
 * A runtime that keeps writable layers on the node's disk, apart from images: containerd keeps both together, and a proxy has it say otherwise.
 * Its answer has the place of images first, then that of layers.
 */
async function splitRuntime(t: TestContext, node: LabNode): Promise<object> {
  const proxy = await startCriProxy(node.runtimeSocket);
  t.after(() => proxy.close());
  const images = join(node.containerd.root, 'io.containerd.snapshotter.v1.overlayfs');
  const layers = '/var/lib/kubelet/'.padEnd(images.length, 'l'); // an answer may not become longer or shorter
  await node.exec(['mkdir', '-p', layers]);
  proxy.changeAnswers((path, bytes) => {
    const at = path === IMAGE_FS_INFO ? bytes.lastIndexOf(images) : -1;
    if (at > bytes.indexOf(images)) bytes.write(layers, at);
    return bytes;
  });
  return { containerRuntimeEndpoint: proxy.endpoint };
}

export type EvictionWorldOptions = Pick<ClusterOptions, 'disks' | 'images' | 'config' | 'flags'> & {
  /** Writable layers are apart from images, on the node's disk. */
  readonly isSplit?: boolean;
  /** Process ids have a threshold, too. All processes of the machine count for it: others may cross it as well. */
  readonly countsProcesses?: boolean;
};

export async function evictionWorld(
  t: TestContext,
  kubelet: KubeletKind,
  { config = {}, isSplit = false, countsProcesses = false, ...options }: EvictionWorldOptions,
): Promise<EvictionWorld> {
  const world = await podCluster(t, { kubelet: 'none', ...options });
  const { cluster } = world;
  const runtime = isSplit ? await splitRuntime(t, cluster.node) : {};
  const found = await measure(cluster.node);
  const thresholds = {
    'memory.available': `${found.total - found.used - ROOM.memoryMi * MI}`,
    ...(countsProcesses && { 'pid.available': `${found.processLimit - found.processes - ROOM.processes}` }),
    'nodefs.available': `${found.node.available - ROOM.diskMi * MI}`,
    'nodefs.inodesFree': `${found.node.inodes - ROOM.inodes}`,
    'imagefs.available': `${found.images.available - ROOM.diskMi * MI}`,
    'imagefs.inodesFree': `${found.images.inodes - ROOM.inodes}`,
  };
  await cluster.joinKubelet(kubelet, {
    evictionHard: thresholds,
    // The condition must be seen, and the reference writes its status every 10 s.
    evictionPressureTransitionPeriod: kubelet === 'ours' ? '8s' : '30s',
    imageMinimumGCAge: '1s',
    ...(kubelet === 'ours' ? {} : { volumeStatsAggPeriod: '5s' }),
    ...runtime,
    ...config,
  });
  // The reference ranks by sizes that it and the runtime measured some time ago.
  const settleSeconds = kubelet === 'ours' ? 2 : 25;
  const node = () => cluster.admin.get(`/api/v1/nodes/${NODE}`);
  const hasPressure = async (pressure: Pressure) => conditionOf(podIn(await node()), pressure)?.status === 'True';

  return {
    world,
    use: ({ first, later = '', mounts = [] }, more = {}) => ({
      nodeName: NODE,
      containers: [
        runs('main', `${first}; sleep ${settleSeconds}; ${later || ':'}; sleep 100000`, {
          volumeMounts: mounts.map((name) => ({ name, mountPath: `/${name}` })),
        }),
      ],
      volumes: mounts.map((name) => ({ name, emptyDir: name === 'memory' ? { medium: 'Memory' } : {} })),
      ...more,
    }),
    play: (scenario) => play(world, scenario, { node, hasPressure }),
    nodeEvents: async () => {
      const listed = await eventsOf(world, `involvedObject.kind=Node,reason=EvictionThresholdMet`);
      return [...new Set(listed.map(({ type, message }) => `${type}: ${message}`))].sort();
    },
  };
}

async function play(
  world: PodCluster,
  { pressure, pods, victims }: Scenario,
  { node, hasPressure }: { node: () => Promise<ApiObject>; hasPressure: (kind: Pressure) => Promise<boolean> },
): Promise<Outcome> {
  for (const [name, spec] of Object.entries(pods)) await world.create(name, spec);
  let late: Ending | undefined;
  let taints: readonly string[] = [];
  await eventually(`${pressure}`, () => hasPressure(pressure), 180_000);
  if (victims.length > 0) {
    await world.create('late', { nodeName: NODE });
    late = await endingOf(world, 'late');
    await eventually('a taint', async () => {
      const { taints: all = [] } = ((await node()).spec ?? {}) as { taints?: readonly { key: string }[] };
      taints = all.map(({ key }) => key);
      return taints.length > 0;
    });
  }
  const endings: Record<string, Ending> = {};
  for (const name of victims) endings[name] = await endingOf(world, name);
  await eventually(`the end of ${pressure}`, async () => !(await hasPressure(pressure)), 180_000);
  const names = Object.keys(pods);
  const found = await Promise.all(names.map((name) => world.get(name)));
  const lost = found
    .filter((pod) => !phaseIs('Running')(pod) && !victims.includes(pod.metadata.name))
    .map(({ metadata, status }) => `${metadata.name}: ${status?.phase} ${words(status?.message)}`);
  const all = late === undefined ? names : [...names, 'late'];
  for (const name of all) await world.delete(name, { gracePeriodSeconds: 0 });
  for (const name of all) await world.gone(name);
  await untilDirectoriesAreGone(world.cluster.node);
  return { endings, lost, late, taints };
}

/** What pods had on the disks is removed after their objects. */
async function untilDirectoriesAreGone(node: LabNode): Promise<void> {
  await eventually('no pod has a directory', async () => {
    const { stdout } = await node.exec(['ls', '/var/lib/kubelet/pods']);
    return stdout.trim() === '';
  });
}

/** While a node is short it takes no new pods. */
export async function untilNoPressure({ cluster }: PodCluster): Promise<void> {
  await eventually(
    'no pressure',
    async () => {
      const { conditions } = (await cluster.admin.get(`/api/v1/nodes/${NODE}`)).status as {
        readonly conditions: readonly { readonly type: string; readonly status: string }[];
      };
      return conditions.every(({ type, status }) => !type.endsWith('Pressure') || status === 'False');
    },
    120_000,
  );
}

export async function endingOf(world: PodCluster, name: string): Promise<Ending> {
  const pod: Pod = await world.become(name, 'evicted', phaseIs('Failed'), 180_000);
  const condition = conditionOf(pod, 'DisruptionTarget');
  let events: readonly ListedEvent[] = [];
  // It may arrive after the status.
  await eventually(`the event of ${name}`, async () => {
    events = await eventsOf(world, `involvedObject.uid=${pod.metadata.uid},reason=Evicted`);
    return events.length > 0;
  });
  return {
    phase: pod.status?.phase,
    reason: pod.status?.reason,
    message: words(pod.status?.message),
    disruption: condition === undefined ? [] : [condition.status, condition.reason, words(condition.message)],
    events: [
      ...new Set(
        events.map(
          ({ type, message, metadata }) =>
            `${type}: ${words(message)} ${Object.keys(metadata.annotations ?? {}).sort()}`,
        ),
      ),
    ],
  };
}

interface ListedEvent {
  readonly type: string;
  readonly message: string;
  readonly metadata: { readonly annotations?: object };
}

async function eventsOf(world: PodCluster, selector: string): Promise<readonly ListedEvent[]> {
  const query = `fieldSelector=${encodeURIComponent(selector)}`;
  const { items } = (await world.cluster.admin.get(`${PODS.replace(/pods$/, 'events')}?${query}`)) as unknown as {
    readonly items: readonly ListedEvent[];
  };
  return items;
}
