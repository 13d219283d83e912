/** The disk that every guest boots from: a small Debian of packages of the machine's own mirror, made once and kept in the cache. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../src/base/clock.ts';
import type { RunCommand } from '../../../tools/machine/command.ts';
import { renderNetwork } from '../../../tools/machine/containerd.ts';
import { PAUSE_IMAGE } from '../../../tools/machine/images.ts';
import { NODE_ADDRESS } from '../../../tools/machine/world.ts';
import { withLock } from '../binaries/lock.ts';
import { formatElapsed, type Progress, ticking } from '../binaries/progress.ts';
import { chooseMirror, INDEX_FORMAT, type Mirror } from './mirror.ts';

export interface BaseImage {
  readonly disk: string;
  readonly kernel: string;
  readonly initrd: string;
}

export interface BaseImageDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cacheDirectory: string;
  readonly run: RunCommand;
  readonly installPackages: (names: readonly string[]) => Promise<void>;
  readonly progress: Progress;
  readonly clock: Clock;
}

/** In the guest, beside what these need. */
const GUEST_PACKAGES = [
  ...['systemd', 'systemd-sysv', 'dbus', 'udev', 'kmod', 'linux-image-cloud-amd64'],
  ...['containerd', 'runc', 'containernetworking-plugins', 'iptables', 'iproute2', 'procps', 'curl'],
  'libatomic1', // Node is linked against it
] as const;
/** On the machine. */
const BUILD_PACKAGES = ['debootstrap', 'e2fsprogs', 'util-linux'] as const;

const SCRIPT = join(import.meta.dirname, 'make-base.sh');
const POD_SUBNET = '10.88.0.0/16';
const UNFINISHED = '.building-';
/** The one in use and the one before: switching between two branches builds nothing. */
const KEPT_IMAGES = 2;

/** Makes the image where it is missing (a minute and a half); otherwise it only looks. */
export async function ensureBaseImage(deps: BaseImageDeps, signal: AbortSignal): Promise<BaseImage> {
  const files = await baseFiles();
  const parent = join(deps.cacheDirectory, 'guest');
  const directory = join(parent, await imageKey(files));
  const image = {
    disk: join(directory, 'disk.img'),
    kernel: join(directory, 'vmlinuz'),
    initrd: join(directory, 'initrd.img'),
  };
  if (await isThere(directory)) return image;
  await mkdir(parent, { recursive: true });
  const onWait = () => deps.progress.line('Waiting for another process that makes the disk of the guest');
  await withLock({ file: join(parent, 'lock'), signal, onWait }, async () => {
    if (await isThere(directory)) return; // made by another process while we waited
    await removeOld(parent);
    await deps.installPackages(BUILD_PACKAGES);
    await makeImage(deps, { files, directory, signal });
  });
  return image;
}

interface BaseFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

const SUBSTITUTES: Readonly<Record<string, string>> = { NODE_ADDRESS, PAUSE_IMAGE };

/** What is laid over the installed packages: the files below root/, with `@NAME@` filled in, and the network of the pods. */
export async function baseFiles(): Promise<readonly BaseFile[]> {
  const top = join(import.meta.dirname, 'root');
  const entries = await readdir(top, { recursive: true, withFileTypes: true });
  const files: BaseFile[] = [
    {
      path: 'etc/cni/net.d/10-pods.conflist',
      text: renderNetwork('/var/lib/cni/networks', POD_SUBNET),
      mode: 0o644,
    },
  ];
  for (const entry of entries.filter((one) => one.isFile())) {
    const source = join(entry.parentPath, entry.name);
    const text = fillIn(await readFile(source, 'utf8'), source);
    files.push({ path: source.slice(top.length + 1), text, mode: (await stat(source)).mode & 0o777 });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function fillIn(text: string, source: string): string {
  return text.replace(/@([A-Z_]+)@/g, (mark, name: string) => {
    const value = SUBSTITUTES[name];
    if (value === undefined) {
      throw new Error(`${source}: nothing to put in for ${mark}; known: ${Object.keys(SUBSTITUTES).join(', ')}`);
    }
    return value;
  });
}

async function imageKey(files: readonly BaseFile[]): Promise<string> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([GUEST_PACKAGES, files]));
  hash.update(await readFile(SCRIPT));
  return hash.digest('hex').slice(0, 16);
}

async function makeImage(
  deps: BaseImageDeps,
  order: { files: readonly BaseFile[]; directory: string; signal: AbortSignal },
): Promise<void> {
  const mirror = await findMirror(deps);
  const workshop = join(dirname(order.directory), `${UNFINISHED}${process.pid}`);
  const overlay = join(workshop, 'overlay');
  const started = deps.clock.mono();
  const elapsed = () => formatElapsed(deps.clock.mono() - started);
  let step = 'starting';
  try {
    for (const file of order.files) {
      const path = join(overlay, file.path);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, file.text, { mode: file.mode });
    }
    using _ticks = ticking(deps.progress, deps.clock, () => `making the disk of the guest: ${elapsed()}, ${step}`);
    const outcome = await deps.run({
      argv: [...SEALED, 'sh', SCRIPT, mirror.suite, mirror.address, GUEST_PACKAGES.join(','), overlay, workshop],
      env: { ...deps.env, LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' },
      signal: order.signal,
      onLine: (line) => {
        step = line;
      },
    });
    if (outcome.code !== 0) throw await notMade(mirror, workshop, outcome);
    await rm(overlay, { recursive: true });
    await rename(workshop, order.directory);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
  deps.progress.line(`made the disk of the guest in ${elapsed()}: ${order.directory}`);
}

/** Ends with us, however we end, and takes its processes and mounts along. */
const SEALED = [
  ...(['setpriv', '--pdeathsig', 'KILL'] as const),
  ...(['unshare', '--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc'] as const),
] as const;

async function notMade(
  mirror: Mirror,
  workshop: string,
  outcome: { readonly code: number; readonly lastLines: readonly string[] },
): Promise<Error> {
  // debootstrap says only that something failed; why is in its own log.
  const log = await readFile(join(workshop, 'root', 'debootstrap', 'debootstrap.log'), 'utf8').catch(() => '');
  const words = [...outcome.lastLines.slice(-10), ...log.trimEnd().split('\n').slice(-10)];
  return new Error(
    `the disk of the guest could not be made from ${mirror.suite} at ${mirror.address} (ended with ${outcome.code}):\n  ${words.join('\n  ')}`,
  );
}

async function findMirror(deps: BaseImageDeps): Promise<Mirror> {
  const query = await deps.run({
    argv: ['apt-get', 'indextargets', '--format', INDEX_FORMAT, 'Created-By: Packages'],
    env: deps.env,
  });
  if (query.code !== 0) throw new Error(`apt-get indextargets ended with ${query.code}: ${query.lastLines.join(' ')}`);
  return chooseMirror(query.stdout);
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

/** Halves of an interrupted build, and the oldest images. A guest that runs from one keeps it open and notices nothing. */
async function removeOld(parent: string): Promise<void> {
  const aged: { name: string; at: number }[] = [];
  for (const entry of await readdir(parent, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const unfinished = entry.name.startsWith(UNFINISHED);
    aged.push({ name: entry.name, at: unfinished ? 0 : (await stat(join(parent, entry.name))).mtimeMs });
  }
  aged.sort((a, b) => b.at - a.at);
  const old = aged.filter(({ at }, index) => at === 0 || index >= KEPT_IMAGES - 1);
  for (const { name } of old) await rm(join(parent, name), { recursive: true, force: true });
}
