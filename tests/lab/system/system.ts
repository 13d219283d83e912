/**
 * A world with systemd as its process 1, for what needs services that restart, logind or units: its own process table, host name, /etc
 * and a disk of its own for what a node writes. It is up in a second and goes as every world does: kill the cgroup, remove the directory.
 *
 *   directory/etc/     copied over the machine's /etc inside
 *   directory/disk     an ext4 file system inside (the loop device goes with the mount): /tmp, /var/log, /var/lib/kubelet, /var/lib/containerd
 */
import { mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Captured, type CaptureOptions, capture, captureOk } from '../../../tools/machine/capture.ts';
import { type CgroupHierarchies, createTree } from '../../../tools/machine/cgroup-trees.ts';
import type { WorldPlace } from '../../../tools/machine/ledger.ts';
import { type Part, startPart } from '../../../tools/machine/part.ts';
import { claimGround, inCgroup, type StartOptions } from '../../../tools/machine/world.ts';
import { bootScript, READY, readyUnit, TARGET, targetUnit, unitsToMask } from './boot.ts';

export interface SystemOptions {
  readonly place: WorldPlace;
  readonly id: string;
  readonly hostName: string;
  /** Content of files below /etc, by their paths there: units, for one. */
  readonly etc: Readonly<Record<string, string>>;
  /** The units that the system starts; it is ready when all of them are up. */
  readonly units: readonly string[];
  /** Directories before those of every system on the PATH of process 1 and all units. */
  readonly path: readonly string[];
  /** More directories of the machine that the system may change for itself: /usr, for packages. */
  readonly covered?: readonly string[];
}

export interface System {
  readonly id: string;
  readonly directory: string;
  readonly logsDirectory: string;
  /** The mount point of the system's own disk: the same path inside; nothing is there for others. */
  readonly disk: string;
  /** The root directory of the system as this process reaches it. */
  readonly root: string;
  /** Runs a program inside, beside systemd's units. */
  exec(argv: readonly string[], options?: CaptureOptions): Promise<Captured>;
  /** Starts one there that lives as long as the system. Its signals reach nsenter(1) only. */
  start(options: StartOptions): Promise<Part>;
  destroy(): Promise<void>;
}

export const SYSTEM_PACKAGES = [
  'systemd',
  'dbus',
  'e2fsprogs',
  'iproute2',
  'util-linux',
  'hostname',
  'procps',
] as const;

/** Sparse: it takes what is written to it. Large enough that percentages of it mean what they mean on a real disk. */
const DISK_BYTES = 24 * 1024 ** 3;
const BOOT_DEADLINE_MS = 120_000;
const OUTSIDE_CGROUP = 'outside';
const UNIT_DIRECTORIES = '/lib/systemd/system';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export async function createSystem(options: SystemOptions): Promise<System> {
  const ground = await claimGround(options);
  const { hierarchies, cgroup, destroy } = ground;
  try {
    await createTree(hierarchies, cgroup);
    return await boot({ options, ...ground });
  } catch (error) {
    await destroy();
    throw error;
  }
}

async function boot(given: {
  options: SystemOptions;
  directory: string;
  hierarchies: CgroupHierarchies;
  cgroup: string;
  destroy: () => Promise<void>;
}): Promise<System> {
  const { options, directory, hierarchies, cgroup, destroy } = given;
  const logsDirectory = join(directory, 'logs');
  const disk = join(directory, 'disk');
  const path = [...options.path, PATH].join(':');
  const logFile = join(logsDirectory, 'system.log');
  for (const name of [logsDirectory, disk]) await mkdir(name, { recursive: true });
  await makeDisk(`${disk}.img`);
  await writeEtc(join(directory, 'etc'), {
    ...options.etc,
    hostname: `${options.hostName}\n`,
    'systemd/system.conf.d/lab.conf': `[Manager]\nDefaultEnvironment="PATH=${path}"\n`,
    [`systemd/system/${TARGET}`]: targetUnit(options.units),
    'systemd/system/lab-ready.service': readyUnit(options.units, logFile),
  });
  const system = startPart({
    name: 'system',
    argv: [
      ...inCgroup(hierarchies, cgroup), // where a process is when it gets a cgroup namespace becomes the root of it
      ...['unshare', '--cgroup', '--mount', '--pid', '--net', '--uts', '--ipc', '--propagation', 'private'],
      ...[
        '--fork',
        '--kill-child',
        'sh',
        '-ec',
        bootScript(hierarchies, options.hostName, options.covered ?? []),
        directory,
      ],
    ],
    env: { PATH: path },
    logFile,
  });
  await system.waitForLog(new RegExp(`^${READY}$`), BOOT_DEADLINE_MS);
  const pid = await firstChild(system.pid);
  const enter = ['nsenter', `--target=${pid}`, '--cgroup', '--mount', '--pid', '--net', '--uts', '--ipc', '--'];
  const outside = async () => {
    await createTree(hierarchies, join(cgroup, OUTSIDE_CGROUP)); // each time: systemd removes empty cgroups that it does not know
    return inCgroup(hierarchies, join(cgroup, OUTSIDE_CGROUP));
  };
  return {
    id: options.id,
    directory,
    logsDirectory,
    disk,
    root: `/proc/${pid}/root`,
    exec: async (argv, execOptions = {}) =>
      await capture([...(await outside()), ...enter, ...argv], { env: { PATH: path }, ...execOptions }),
    start: async ({ name, argv, env, cwd }) =>
      startPart({
        name,
        argv: [...(await outside()), ...enter, ...argv],
        env: { PATH: path, ...env },
        logFile: join(logsDirectory, `${name}.log`),
        ...(cwd === undefined ? {} : { cwd }),
      }),
    destroy,
  };
}

async function makeDisk(image: string): Promise<void> {
  await writeFile(image, '');
  await truncate(image, DISK_BYTES);
  await captureOk(['/sbin/mkfs.ext4', '-q', '-m', '0', '-E', 'lazy_itable_init=1,lazy_journal_init=1', image]);
}

async function writeEtc(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
  const pulledIn = new Map<string, readonly string[]>();
  for (const name of (await readdir(UNIT_DIRECTORIES)).filter((entry) => entry.endsWith('.wants'))) {
    pulledIn.set(name, await readdir(join(UNIT_DIRECTORIES, name)));
  }
  for (const unit of unitsToMask(pulledIn)) await symlink('/dev/null', join(directory, 'systemd', 'system', unit));
}

/** Process 1 of the system under its number here: the one child of unshare(1). */
async function firstChild(pid: number): Promise<number> {
  const [child] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ');
  if (child === undefined || child === '') throw new Error(`process ${pid} has no child: the system ended`);
  return Number(child);
}
