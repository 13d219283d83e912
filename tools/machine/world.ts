/**
 * A sealed place to run a node in: network, mount and cgroup namespaces of its own, a directory, and a cgroup that holds every process.
 * Inside, that cgroup is the root of every hierarchy, so not even a container without a parent cgroup gets out of it.
 * Nothing of it is visible on the machine but these: when the processes are gone, their mounts, interfaces and network
 * namespaces are gone with them, so taking a world away is "kill the cgroup, remove the directory".
 *
 *   directory/ledger.json   who owns it (see ledger.ts)
 *   directory/logs/         one file for each part
 *   directory/kubelet       is /var/lib/kubelet inside;  directory/log is /var/log;  the rest of /var/lib is a throw-away overlay
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Captured, type CaptureOptions, capture } from './capture.ts';
import {
  type CgroupHierarchies,
  createTree,
  delegateControllers,
  destroyTree,
  readHierarchies,
} from './cgroup-trees.ts';
import { claimWorld, removeWorldDirectory, type WorldPlace } from './ledger.ts';
import { type Part, startPart } from './part.ts';

export interface WorldOptions {
  readonly place: WorldPlace;
  readonly id: string;
  /** Environment of everything in the world; PATH comes from the machine. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface StartOptions {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

export interface World {
  readonly id: string;
  readonly directory: string;
  readonly logsDirectory: string;
  /** The world's cgroup as the machine sees it, in every hierarchy. Inside the world it is `/`. */
  readonly cgroup: string;
  readonly hierarchies: CgroupHierarchies;
  /** Process whose namespaces are the world's: for `nsenter --target`. */
  readonly anchorPid: number;
  /** Starts a program inside, in the cgroup `<cgroup>/<name>`. */
  start(options: StartOptions): Promise<Part>;
  /** Runs a short program inside. */
  exec(argv: readonly string[], options?: CaptureOptions): Promise<Captured>;
  /** What a person types to run something inside. */
  enterCommand(argv: readonly string[]): string;
  destroy(): Promise<void>;
}

/** The programs that a world itself is made with (ip, unshare, nsenter); a minimal system lacks the first. */
export const WORLD_PACKAGES = ['iproute2', 'util-linux'] as const;

/** The address of the node: on a bridge that leads nowhere, with the default route over it (TEST-NET-1). */
export const NODE_ADDRESS = '192.0.2.10';
const NODE_GATEWAY = '192.0.2.1';
const ANCHOR_CGROUP = 'anchor';
const ANCHOR_READY = 'world is ready';

/** What every world stands on: its directory and its cgroup, and how both go. */
export async function claimGround({ place, id }: Pick<WorldOptions, 'place' | 'id'>) {
  const directory = await claimWorld(place, id);
  const hierarchies = await readHierarchies();
  const cgroup = place.cgroupOf(id);
  const destroy = async () => {
    await destroyTree(hierarchies, cgroup);
    await removeWorldDirectory(directory);
  };
  return { directory, hierarchies, cgroup, destroy };
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const ground = await claimGround(options);
  const { destroy } = ground;
  try {
    return await furnishWorld({ options, ...ground });
  } catch (error) {
    await destroy();
    throw error;
  }
}

async function furnishWorld(given: {
  options: WorldOptions;
  directory: string;
  hierarchies: CgroupHierarchies;
  cgroup: string;
  destroy: () => Promise<void>;
}): Promise<World> {
  const { directory, hierarchies, cgroup, destroy } = given;
  const env = { ...process.env, ...given.options.env };
  const logsDirectory = join(directory, 'logs');
  for (const name of ['logs', 'kubelet', 'log', 'var-lib/upper', 'var-lib/work']) {
    await mkdir(join(directory, name), { recursive: true });
  }
  await createTree(hierarchies, cgroup);

  const intoCgroup = async (name: string): Promise<string[]> => {
    await createTree(hierarchies, join(cgroup, name));
    return inCgroup(hierarchies, join(cgroup, name));
  };
  await createTree(hierarchies, join(cgroup, ANCHOR_CGROUP));
  const anchor = startPart({
    name: ANCHOR_CGROUP,
    argv: [
      ...(await intoCgroup('.')), // where a process is when it gets a cgroup namespace becomes the root of it
      ...[
        'unshare',
        '--mount',
        '--net',
        '--cgroup',
        '--propagation',
        'private',
        'sh',
        '-ec',
        furnishScript(hierarchies),
        directory,
      ],
    ],
    env,
    logFile: join(logsDirectory, 'anchor.log'),
  });
  await anchor.waitForLog(new RegExp(ANCHOR_READY), 120_000);
  await delegateControllers(hierarchies, cgroup);
  const enter = ['nsenter', `--target=${anchor.pid}`, '--mount', '--net', '--cgroup', '--'];

  return {
    id: given.options.id,
    directory,
    logsDirectory,
    cgroup: join('/', cgroup),
    hierarchies,
    anchorPid: anchor.pid,
    start: async (start) =>
      startPart({
        name: start.name,
        argv: [...(await intoCgroup(start.name)), ...enter, ...start.argv],
        env: { ...env, ...start.env },
        logFile: join(logsDirectory, `${start.name}.log`),
        ...(start.cwd === undefined ? {} : { cwd: start.cwd }),
      }),
    exec: async (argv, execOptions = {}) =>
      await capture([...(await intoCgroup(ANCHOR_CGROUP)), ...enter, ...argv], {
        ...execOptions,
        env: { ...env, ...execOptions.env },
      }),
    enterCommand: (argv) => [...enter.slice(0, -1), ...argv].join(' '),
    destroy,
  };
}

/** What stands before a command to start it in this cgroup, in every hierarchy. */
export function inCgroup(hierarchies: CgroupHierarchies, cgroup: string): string[] {
  return ['sh', '-c', JOIN_CGROUPS, join('/', cgroup), ...hierarchies.mounts, '--'];
}

// $0 is the cgroup; the arguments up to `--` are mount points; the rest is the command.
const JOIN_CGROUPS = `
set -e
while [ "$1" != -- ]; do echo $$ > "$1$0/cgroup.procs"; shift; done
shift
exec "$@"`;

/** Shell lines that give an empty network namespace the node's address. */
export const FURNISH_NETWORK = `ip link set lo up
ip link add node0 type bridge
ip address add ${NODE_ADDRESS}/24 dev node0
ip link set node0 up
ip route add default via ${NODE_GATEWAY} dev node0`;

// Runs as the anchor, inside the new namespaces; $0 is the world's directory. Mounts are shared again within the world, because pods may
// ask for mounts that propagate. /run is fresh: network namespaces, locks and shim sockets of the runtime live there.
const furnishScript = (hierarchies: CgroupHierarchies): string => `
${remountCgroups(hierarchies)}
mount --make-rshared /
mount -t overlay overlay -o "lowerdir=/var/lib,upperdir=$0/var-lib/upper,workdir=$0/var-lib/work" /var/lib
mkdir -p /var/lib/kubelet
mount --bind "$0/kubelet" /var/lib/kubelet
mount --bind "$0/log" /var/log
mkdir -p /var/log/pods /var/log/containers
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/netns
${FURNISH_NETWORK}
echo ${JSON.stringify(ANCHOR_READY)}
exec sleep infinity`;

/** The hierarchies again, mounted from inside the cgroup namespace, and the processes of the anchor out of the root. */
function remountCgroups(hierarchies: CgroupHierarchies): string {
  const lines = ['umount --recursive --lazy /sys/fs/cgroup', ...mountCgroups(hierarchies)];
  for (const mount of hierarchies.mounts) lines.push(`echo $$ > ${mount}/${ANCHOR_CGROUP}/cgroup.procs`);
  return lines.join('\n');
}

/** Shell lines that mount every hierarchy at its place, as the cgroup namespace of the shell sees it. */
export function mountCgroups(hierarchies: CgroupHierarchies): readonly string[] {
  const lines: string[] = [];
  if (hierarchies.controllers.size > 0) lines.push('mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup');
  for (const [mount, controllers] of hierarchies.controllers) {
    lines.push(`mkdir -p ${mount}`, `mount -t cgroup -o ${controllers} cgroup ${mount}`);
    for (const name of controllers.split(',')) {
      if (controllers.includes(',')) lines.push(`ln -s ${mount} /sys/fs/cgroup/${name}`);
    }
  }
  lines.push(`mkdir -p ${hierarchies.unified}`, `mount -t cgroup2 cgroup2 ${hierarchies.unified}`);
  return lines;
}
