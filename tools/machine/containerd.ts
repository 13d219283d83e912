/** A private containerd inside a world: its configuration, its start and end, and its `ctr`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSystemClock } from '../../src/base/clock.ts';
import { describeError } from '../../src/base/errors.ts';
import { type CriClient, createCriClient } from '../../src/runtime/cri/client.ts';
import type { Captured } from './capture.ts';
import { PAUSE_IMAGE } from './images.ts';
import type { Part, PartExit } from './part.ts';
import type { World } from './world.ts';

/** Where the programs of one generation are. */
export interface RuntimeBinaries {
  readonly name: string;
  readonly containerd: string;
  readonly ctr: string;
  /** Directory of containerd-shim-runc-v2. */
  readonly shimDirectory: string;
  readonly runc: string;
  readonly cniDirectory: string;
}

/** Debian 12's packages: containerd 1.6 with runc 1.1. */
export const DEBIAN_RUNTIME: RuntimeBinaries = {
  name: 'containerd-1.6',
  containerd: '/usr/bin/containerd',
  ctr: '/usr/bin/ctr',
  shimDirectory: '/usr/bin',
  runc: '/usr/sbin/runc',
  cniDirectory: '/usr/lib/cni',
};
export const DEBIAN_RUNTIME_PACKAGES = ['containerd', 'runc', 'containernetworking-plugins', 'iptables'] as const;

export interface Containerd {
  readonly binaries: RuntimeBinaries;
  readonly socket: string;
  readonly endpoint: string;
  readonly pid: number;
  readonly configFile: string;
  /** containerd's state on disk. */
  readonly root: string;
  /** Read at every pull: `<registry>/hosts.toml` in it says where the images of that registry come from. */
  readonly registriesDirectory: string;
  isRunning(): boolean;
  start(): Promise<void>;
  /** Ends containerd alone: containers and their shims live on, as they do on a real node. */
  stop(): Promise<PartExit>;
  kill(signal: NodeJS.Signals): void;
  restart(): Promise<void>;
  /** Resolves when CRI lists these images, which is a little after they were imported. */
  untilCriHas(images: readonly string[]): Promise<void>;
  /** `ctr` in the name space of Kubernetes. */
  ctr(...args: readonly string[]): Promise<Captured>;
}

export interface ContainerdOptions {
  readonly world: World;
  readonly binaries: RuntimeBinaries;
  /** The network of the pods. */
  readonly podSubnet: string;
  /** More tables of TOML, appended to the configuration. */
  readonly extraConfig?: string;
}

/** Printed when every plugin is loaded and the sockets are served. */
const BOOTED = /containerd successfully booted/;
/** A loaded machine takes its time; it is up in a fraction of a second otherwise. */
const START_DEADLINE_MS = 120_000;
const CRI_STEP_MS = 10;

export async function createContainerd(options: ContainerdOptions): Promise<Containerd> {
  const { world, binaries } = options;
  const directory = join(world.directory, 'containerd');
  const paths: ContainerdPaths = {
    root: join(directory, 'root'),
    state: join(directory, 'state'),
    socket: join(directory, 'containerd.sock'),
    opt: join(directory, 'opt'),
    cniConfig: join(directory, 'cni'),
    cniState: join(directory, 'cni-state'),
    registries: join(directory, 'certs.d'),
  };
  for (const path of [paths.root, paths.state, paths.opt, paths.cniConfig, paths.cniState, paths.registries]) {
    await mkdir(path, { recursive: true });
  }
  const configFile = join(directory, 'config.toml');
  await writeFile(configFile, `${renderConfig(paths, binaries)}${options.extraConfig ?? ''}`);
  await writeFile(join(paths.cniConfig, '10-pods.conflist'), renderNetwork(paths.cniState, options.podSubnet));
  return new WorldContainerd({ world, binaries, paths, configFile });
}

export interface ContainerdPaths {
  readonly root: string;
  readonly state: string;
  readonly socket: string;
  readonly opt: string;
  readonly cniConfig: string;
  readonly cniState: string;
  /** hosts.toml files, one directory for each registry. */
  readonly registries: string;
}

/** Format version 2 is what 1.6 reads; 2.x takes it too and translates it by itself. */
export function renderConfig(
  paths: ContainerdPaths,
  binaries: RuntimeBinaries,
  { systemdCgroup = false }: { readonly systemdCgroup?: boolean } = {},
): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  const text = (value: string) => JSON.stringify(value);
  return `version = 2
root = ${text(paths.root)}
state = ${text(paths.state)}

[grpc]
address = ${text(paths.socket)}

[plugins."io.containerd.internal.v1.opt"]
path = ${text(paths.opt)}

[${cri}]
sandbox_image = ${text(PAUSE_IMAGE)}
# Where root lacks CAP_SYS_RESOURCE, runc could not lower a score below its own and would not start anything.
restrict_oom_score_adj = true

[${cri}.cni]
bin_dir = ${text(binaries.cniDirectory)}
conf_dir = ${text(paths.cniConfig)}

[${cri}.registry]
config_path = ${text(paths.registries)}

[${cri}.containerd]
default_runtime_name = "runc"

[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[${cri}.containerd.runtimes.runc.options]
BinaryName = ${text(binaries.runc)}
SystemdCgroup = ${systemdCgroup}
`;
}

/** A bridge inside the world's network namespace; no address translation, since there is nowhere to go. */
export function renderNetwork(stateDirectory: string, subnet: string): string {
  const bridge = {
    type: 'bridge',
    bridge: 'cni0',
    isGateway: true,
    hairpinMode: true,
    ipam: { type: 'host-local', dataDir: stateDirectory, ranges: [[{ subnet }]], routes: [{ dst: '0.0.0.0/0' }] },
  };
  const ports = { type: 'portmap', capabilities: { portMappings: true } };
  return JSON.stringify({ cniVersion: '0.4.0', name: 'pods', plugins: [bridge, ports] }, undefined, 2);
}

class WorldContainerd implements Containerd {
  readonly binaries: RuntimeBinaries;
  readonly socket: string;
  readonly endpoint: string;
  readonly configFile: string;
  readonly root: string;
  readonly registriesDirectory: string;
  readonly #world: World;
  #part: Part | undefined;

  constructor(made: { world: World; binaries: RuntimeBinaries; paths: ContainerdPaths; configFile: string }) {
    this.binaries = made.binaries;
    this.socket = made.paths.socket;
    this.endpoint = `unix://${made.paths.socket}`;
    this.configFile = made.configFile;
    this.root = made.paths.root;
    this.registriesDirectory = made.paths.registries;
    this.#world = made.world;
  }

  get pid(): number {
    return this.#running().pid;
  }

  isRunning(): boolean {
    return this.#part?.isRunning() ?? false;
  }

  async start(): Promise<void> {
    if (this.isRunning()) throw new Error(`${this.binaries.name} runs already (pid ${this.pid})`);
    this.#part = await this.#world.start({
      name: 'containerd',
      argv: [this.binaries.containerd, '--config', this.configFile],
      env: { PATH: [this.binaries.shimDirectory, process.env['PATH'] ?? ''].join(delimiter) },
    });
    await this.#part.waitForLog(BOOTED, START_DEADLINE_MS);
    await this.#untilCriAnswers(this.#part);
  }

  /** The CRI part takes calls a little later than containerd itself: after it has read what ran before. */
  async #untilCriAnswers(part: Part): Promise<void> {
    await this.#untilCri(part, 'CRI does not answer', async (cri, signal) => {
      await cri.status({}, signal);
      return undefined;
    });
  }

  async untilCriHas(images: readonly string[]): Promise<void> {
    await this.#untilCri(this.#running(), 'CRI does not have an imported image', async (cri, signal) => {
      const listed = new Set((await cri.images.list(signal)).flatMap(({ repoTags }) => repoTags));
      return images.find((name) => !listed.has(name));
    });
  }

  /** `missing` answers what is still missing, or nothing. */
  async #untilCri(
    part: Part,
    problem: string,
    missing: (cri: CriClient, signal: AbortSignal) => Promise<string | undefined>,
  ): Promise<void> {
    const cri = createCriClient({ endpoint: this.endpoint, clock: createSystemClock() });
    const deadline = performance.now() + START_DEADLINE_MS;
    const signal = new AbortController().signal;
    try {
      for (;;) {
        const refusal = await missing(cri, signal).catch(describeError);
        if (refusal === undefined) return;
        if (!part.isRunning() || performance.now() > deadline) {
          throw new Error(`${problem}: ${refusal}; the end of ${part.logFile}:\n${part.logTail()}`);
        }
        await delay(CRI_STEP_MS);
      }
    } finally {
      await cri.close();
    }
  }

  async stop(): Promise<PartExit> {
    return await this.#running().stop();
  }

  kill(signal: NodeJS.Signals): void {
    this.#running().kill(signal);
  }

  async restart(): Promise<void> {
    if (this.isRunning()) await this.stop();
    await this.start();
  }

  async ctr(...args: readonly string[]): Promise<Captured> {
    return await this.#world.exec([this.binaries.ctr, '--address', this.socket, '--namespace', 'k8s.io', ...args]);
  }

  #running(): Part {
    if (this.#part === undefined) throw new Error(`${this.binaries.name} was not started`);
    return this.#part;
  }
}
