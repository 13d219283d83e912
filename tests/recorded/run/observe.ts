/** What the recording holds of a running pod, read on a node of the lab: from inside its containers, its cgroups, its files. */
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { CriClient } from '../../../src/runtime/cri/client.ts';
import { type Container, ContainerState, type PodSandbox } from '../../../src/wire/gen/cri-runtime-v1.ts';
import type { LabNode } from '../../lab/lab.ts';
import type { RecordedFile, RecordedInside } from '../lives.ts';

export interface Place {
  readonly node: LabNode;
  readonly cri: CriClient;
  readonly signal: AbortSignal;
}

/** Values of cgroup files; the groups are `pod`, `sandbox` and the names of the running containers. */
export type CgroupValues = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Observed {
  readonly inside: Readonly<Record<string, RecordedInside>>;
  /** Undefined on a machine with cgroup v2 only: its files have other names than the recorded ones. */
  readonly cgroups: CgroupValues | undefined;
  readonly files: readonly RecordedFile[];
  readonly logs: readonly RecordedFile[];
}

export interface InRuntime {
  readonly containers: readonly Container[];
  readonly sandboxes: readonly PodSandbox[];
}

export async function inRuntime({ cri, signal }: Place, uid: string): Promise<InRuntime> {
  const filter = { labelSelector: { 'io.kubernetes.pod.uid': uid } };
  const [containers, sandboxes] = await Promise.all([
    cri.containers.list(filter, signal),
    cri.sandboxes.list(filter, signal),
  ]);
  return { containers, sandboxes };
}

export async function observePod(place: Place, pod: { uid: string; logs: string }): Promise<Observed> {
  const { node } = place;
  const made = await inRuntime(place, pod.uid);
  const running = made.containers.filter(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  const cgroups = await readCgroups(node, pod.uid, made);
  // As the node's processes see it, with what is mounted there.
  const root = `/proc/${node.containerd.pid}/root/var/lib/kubelet`;
  const files = await listTree(join(root, 'pods', pod.uid));
  const logs = await listTree(join(node.podLogsDirectory, pod.logs));
  const inside: Record<string, RecordedInside> = {};
  for (const { id, metadata } of running) inside[metadata?.name ?? ''] = await lookInside(place, id);
  return { inside, cgroups, files, logs };
}

/** One shell for all of it; the environment is that of the shell when it was started. */
const SCRIPT = [
  'cat /etc/hosts',
  'cat /etc/resolv.conf',
  'hostname',
  "tr '\\0' '\\n' < /proc/self/environ",
  'id',
  'cat /proc/self/mountinfo',
];
const BREAK = '=== next ===';

async function lookInside({ cri, signal }: Place, containerId: string): Promise<RecordedInside> {
  const script = SCRIPT.join(`; echo '${BREAK}'; `);
  const request = { containerId, command: ['sh', '-c', script], timeoutSeconds: 20 };
  const { stdout, stderr, exitCode } = await cri.streams.execSync(request, signal);
  const [hosts = '', resolv = '', hostname = '', env = '', id = '', mountinfo = ''] = Buffer.from(stdout)
    .toString()
    .split(`${BREAK}\n`);
  if (exitCode !== 0) throw new Error(`looking inside ended with ${exitCode}: ${Buffer.from(stderr).toString()}`);
  return {
    hosts,
    resolv,
    hostname,
    env: env.trimEnd().split('\n').sort(),
    id,
    mounts: mountinfo.trimEnd().split('\n').map(mountLine),
    volumes: null,
  };
}

/** `36 35 98:0 /root /point options tags - type source super` */
function mountLine(line: string): string {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root, point, options] = before.split(' ');
  return `${root} ${point} ${options} - ${after.split(' ')[0]}`;
}

const CGROUP_FILES = [
  'cpu/cpu.shares',
  'cpu/cpu.cfs_quota_us',
  'cpu/cpu.cfs_period_us',
  'memory/memory.limit_in_bytes',
  'memory/memory.soft_limit_in_bytes',
  'pids/pids.max',
  'cpuset/cpuset.cpus',
] as const;
/** Machines have more or fewer. */
export const ALL_CPUS = 'all';
const CGROUP_MOUNTS = '/sys/fs/cgroup';

export async function readCgroups(node: LabNode, uid: string, made: InRuntime): Promise<CgroupValues | undefined> {
  if (!existsSync(join(CGROUP_MOUNTS, 'cpu'))) return undefined;
  const names = new Map<string, string>([
    ...made.sandboxes.map(({ id }) => [id, 'sandbox'] as const),
    ...made.containers.map(({ id, metadata }) => [id, metadata?.name ?? ''] as const),
  ]);
  const found: Record<string, Readonly<Record<string, string>>> = {};
  for (const parent of ['kubepods', 'kubepods/burstable', 'kubepods/besteffort']) {
    const pod = `${parent}/pod${uid}`;
    const children = await subdirectories(join(CGROUP_MOUNTS, 'cpu', node.world.cgroup, pod));
    if (children === undefined) continue;
    found[`pod in /${parent}`] = await cgroupValues(node, pod);
    for (const child of children) {
      const values = await cgroupValues(node, join(pod, child));
      found[names.get(child) ?? child] = values;
    }
  }
  return found;
}

async function subdirectories(path: string): Promise<readonly string[] | undefined> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  return entries?.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

async function cgroupValues(node: LabNode, cgroup: string): Promise<Readonly<Record<string, string>>> {
  const values = CGROUP_FILES.map(async (file): Promise<[string, string]> => {
    const [controller = '', name = ''] = file.split('/');
    const path = join(CGROUP_MOUNTS, controller, node.world.cgroup, cgroup, name);
    return [name, (await readFile(path, 'utf8').catch(() => 'absent')).trim()];
  });
  const { 'cpuset.cpus': cpus = '', ...rest } = Object.fromEntries(await Promise.all(values));
  const all = (await readFile(join(CGROUP_MOUNTS, 'cpuset', 'cpuset.cpus'), 'utf8')).trim();
  return { ...rest, 'cpuset.cpus': cpus === all ? ALL_CPUS : cpus };
}

const KINDS: readonly (readonly [number, string])[] = [
  [0o040000, 'd'],
  [0o100000, 'f'],
  [0o120000, 'l'],
];

/** Path below `top` ('' for itself), kind, mode, owner, link target; what goes meanwhile is left out. */
export async function listTree(top: string): Promise<readonly RecordedFile[]> {
  const list = async (path: string): Promise<readonly RecordedFile[]> => {
    const { mode, uid, gid } = await lstat(path);
    const kind = KINDS.find(([bits]) => (mode & 0o170000) === bits)?.[1] ?? '?';
    const target = kind === 'l' ? await readlink(path) : '';
    const own = [relative(top, path), kind, (mode & 0o7777).toString(8), `${uid}:${gid}`, target];
    const names = kind === 'd' ? (await readdir(path)).sort() : [];
    const below = await Promise.all(names.map((name) => unlessGone(list(join(path, name)))));
    return [own, ...below.flat()];
  };
  return await unlessGone(list(top));
}

async function unlessGone(files: Promise<readonly RecordedFile[]>): Promise<readonly RecordedFile[]> {
  try {
    return await files;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
