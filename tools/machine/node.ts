/** A node in a sealed world: containerd with its images, a gate into its network, and a kubelet. The lab and `make run` share it. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Captured, CaptureOptions } from './capture.ts';
import { type Containerd, createContainerd, type RuntimeBinaries } from './containerd.ts';
import { mountDisks, type NodeDisks } from './disks.ts';
import { type Gate, openGate } from './gate.ts';
import { createKubelet, type Kubelet, type KubeletSettings } from './kubelet.ts';
import type { WorldPlace } from './ledger.ts';
import { archiveKey, type Image, writeArchive } from './oci/image.ts';
import type { Part } from './part.ts';
import { createWorld, NODE_ADDRESS, type StartOptions, type World } from './world.ts';

export interface NodeOptions {
  readonly place: WorldPlace;
  readonly id: string;
  readonly runtime: RuntimeBinaries;
  readonly images: readonly Image[];
  /** Directory in which image archives are kept between runs. */
  readonly cacheDirectory: string;
  readonly kubelet: KubeletSettings;
  readonly nodeName: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly extraContainerdConfig?: string;
  /** Disks of its own; `kubeletDirectory` and the directories of logs are then empty outside. */
  readonly disks?: NodeDisks;
  /** Called with each step, for people who wait. */
  readonly progress?: (step: string) => void;
}

export interface NodeWorld {
  readonly world: World;
  readonly id: string;
  readonly nodeName: string;
  /** The node's address inside its network. */
  readonly address: string;
  readonly containerd: Containerd;
  readonly gate: Gate;
  /** Not started yet. */
  readonly kubelet: Kubelet;
  /** Put a static pod's manifest here. */
  readonly manifestsDirectory: string;
  /** The same directories as `/var/lib/kubelet`, `/var/log/pods` and `/var/log/containers` inside. */
  readonly kubeletDirectory: string;
  readonly podLogsDirectory: string;
  readonly containerLogsDirectory: string;
  start(options: StartOptions): Promise<Part>;
  exec(argv: readonly string[], options?: CaptureOptions): Promise<Captured>;
  importImages(images: readonly Image[]): Promise<void>;
  destroy(): Promise<void>;
}

const UNUSED_AFTER_MS = 7 * 24 * 3600 * 1000;
const POD_SUBNET = '10.88.0.0/16';

/** containerd is up and has its images when this resolves. */
export async function createNode(options: NodeOptions): Promise<NodeWorld> {
  const progress = options.progress ?? (() => undefined);
  progress('namespaces, cgroup and directory');
  const world = await createWorld({
    place: options.place,
    id: options.id,
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  try {
    if (options.disks !== undefined) await mountDisks(world, options.disks);
    const [containerd, gate] = await Promise.all([startRuntime(world, options, progress), openGate(world)]);
    const importImages = (images: readonly Image[]) => importArchive(containerd, images, options.cacheDirectory);
    const manifestsDirectory = join(world.directory, 'manifests');
    const kubelet = await createKubelet(
      { world, gate, runtimeEndpoint: containerd.endpoint, nodeName: options.nodeName, manifestsDirectory },
      options.kubelet,
    );
    progress('images');
    await importImages(options.images);
    return {
      world,
      id: options.id,
      nodeName: options.nodeName,
      address: NODE_ADDRESS,
      containerd,
      gate,
      kubelet,
      manifestsDirectory,
      kubeletDirectory: join(world.directory, 'kubelet'),
      podLogsDirectory: join(world.directory, 'log', 'pods'),
      containerLogsDirectory: join(world.directory, 'log', 'containers'),
      start: (start) => world.start(start),
      exec: (argv, execOptions) => world.exec(argv, execOptions),
      importImages,
      destroy: () => world.destroy(),
    };
  } catch (error) {
    await world.destroy();
    throw error;
  }
}

async function startRuntime(world: World, options: NodeOptions, progress: (step: string) => void): Promise<Containerd> {
  progress(options.runtime.name);
  const containerd = await createContainerd({
    world,
    binaries: options.runtime,
    podSubnet: POD_SUBNET,
    ...(options.extraContainerdConfig === undefined ? {} : { extraConfig: options.extraContainerdConfig }),
  });
  await containerd.start();
  return containerd;
}

/** The archive is named by what is in it, so one that is there is the right one. */
async function importArchive(containerd: Containerd, images: readonly Image[], cacheDirectory: string): Promise<void> {
  if (images.length === 0) return;
  const directory = join(cacheDirectory, 'images');
  const archive = join(directory, `${archiveKey(images)}.tar`);
  if (existsSync(archive)) {
    await utimes(archive, new Date(), new Date()); // the day of its last use
  } else {
    await mkdir(directory, { recursive: true });
    await removeUnused(directory);
    const half = `${archive}.${process.pid}`;
    await writeFile(half, writeArchive(images));
    await rename(half, archive);
  }
  const { code, stderr } = await containerd.ctr('images', 'import', archive);
  if (code !== 0) throw new Error(`ctr images import ${archive}: exit code ${code}: ${stderr.trim()}`);
  await containerd.untilCriHas(images.flatMap(({ names }) => names));
}

/** Every change of an image makes a new archive: those that no one used for a week go. */
async function removeUnused(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY })); // another process was first
    if (Date.now() - mtimeMs > UNUSED_AFTER_MS) await rm(path, { force: true });
  }
}
