/** A kubelet inside a world, ours or the reference: its configuration file, its flags, its start and end. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Gate } from './gate.ts';
import { describeExit, type Part, type PartExit } from './part.ts';
import { NODE_ADDRESS, type World } from './world.ts';

export interface KubeletSettings {
  readonly binary: string;
  /** Fields of KubeletConfiguration, over those that a world needs. `undefined` takes one of these out. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Added to the command line. */
  readonly flags?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

export interface Kubelet {
  readonly pid: number;
  readonly binary: string;
  readonly configFile: string;
  readonly logFile: string;
  isRunning(): boolean;
  /** Starts it and waits until /healthz says ok. New settings replace the old ones. */
  start(settings?: Partial<KubeletSettings>): Promise<void>;
  /** SIGTERM, and waits for the end. Containers run on. */
  stop(): Promise<PartExit>;
  kill(signal?: NodeJS.Signals): Promise<PartExit>;
  restart(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  healthz(path?: string): Promise<{ status: number; text: string }>;
  exited(): Promise<PartExit>;
  logTail(lines?: number): string;
}

export interface KubeletPlace {
  readonly world: World;
  readonly gate: Gate;
  readonly runtimeEndpoint: string;
  readonly nodeName: string;
  /** Static pods, on the machine's side of the world. */
  readonly manifestsDirectory: string;
}

const HEALTHZ_PORT = 10248;
/** The reference is up in 0.35 s; a machine under load takes longer. */
const HEALTHY_DEADLINE_MS = 120_000;
const HEALTH_STEP_MS = 10;
/** It ends within a second; a machine under load takes longer, and a test may look at the exit code. */
const STOP_GRACE_MS = 60_000;

/** The settings of every kubelet in a world; the rest are its defaults. */
export function baseConfig(place: KubeletPlace): Record<string, unknown> {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: place.runtimeEndpoint,
    staticPodPath: place.manifestsDirectory,
    cgroupDriver: 'cgroupfs',
    healthzPort: HEALTHZ_PORT,
    // On cgroup v1, which the default refuses, the product must work too.
    ...(place.world.hierarchies.controllers.size > 0 ? { failCgroupV1: false } : {}),
    failSwapOn: false,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    readOnlyPort: 10255,
    // The disk of the machine is not the world's: how full it is must not decide what a test sees.
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    volumePluginDir: join(place.world.directory, 'volume-plugins'),
    resolvConf: join(place.world.directory, 'resolv.conf'),
    // Starts of many pods at once are not throttled by what a test machine logs.
    eventRecordQPS: 0,
  };
}

export async function createKubelet(place: KubeletPlace, settings: KubeletSettings): Promise<Kubelet> {
  await mkdir(join(place.world.directory, 'volume-plugins'), { recursive: true });
  await mkdir(place.manifestsDirectory, { recursive: true });
  await writeFile(join(place.world.directory, 'resolv.conf'), `nameserver ${NODE_ADDRESS}\nsearch lab.local\n`);
  return new WorldKubelet(place, settings);
}

class WorldKubelet implements Kubelet {
  readonly configFile: string;
  readonly logFile: string;
  readonly #place: KubeletPlace;
  #settings: KubeletSettings;
  #part: Part | undefined;

  constructor(place: KubeletPlace, settings: KubeletSettings) {
    this.#place = place;
    this.#settings = settings;
    this.configFile = join(place.world.directory, 'kubelet.yaml');
    this.logFile = join(place.world.logsDirectory, 'kubelet.log');
  }

  get pid(): number {
    return this.#running().pid;
  }

  get binary(): string {
    return this.#settings.binary;
  }

  isRunning(): boolean {
    return this.#part?.isRunning() ?? false;
  }

  async start(settings: Partial<KubeletSettings> = {}): Promise<void> {
    if (this.isRunning()) throw new Error(`the kubelet runs already (pid ${this.pid})`);
    this.#settings = { ...this.#settings, ...settings };
    const config = { ...baseConfig(this.#place), ...this.#settings.config };
    await writeFile(this.configFile, stringify(config, { keepUndefined: false }));
    this.#part = await this.#place.world.start({
      name: 'kubelet',
      argv: [this.#settings.binary, ...this.#flags()],
      ...(this.#settings.env === undefined ? {} : { env: this.#settings.env }),
    });
    await this.#untilHealthy(this.#part);
  }

  #flags(): string[] {
    return [
      `--config=${this.configFile}`,
      `--hostname-override=${this.#place.nodeName}`,
      `--node-ip=${NODE_ADDRESS}`,
      '--v=2',
      ...(this.#settings.flags ?? []),
    ];
  }

  async #untilHealthy(part: Part): Promise<void> {
    const deadline = performance.now() + HEALTHY_DEADLINE_MS;
    let last = 'no answer yet';
    while (part.isRunning() && performance.now() < deadline) {
      try {
        const { status, text } = await this.healthz();
        if (status === 200) return;
        last = `status ${status}: ${text}`;
      } catch (error) {
        last = String(error);
      }
      await delay(HEALTH_STEP_MS);
    }
    if (!part.isRunning()) last = `it ended: ${describeExit(await part.exited)}`;
    throw new Error(`the kubelet did not become healthy (${last}); the end of ${part.logFile}:\n${part.logTail()}`);
  }

  async stop(): Promise<PartExit> {
    return await this.#running().stop(STOP_GRACE_MS);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<PartExit> {
    this.#running().kill(signal);
    return await this.#running().exited;
  }

  async restart(): Promise<void> {
    if (this.isRunning()) await this.stop();
    await this.start();
  }

  signal(signal: NodeJS.Signals): void {
    this.#running().kill(signal);
  }

  async healthz(path = '/healthz'): Promise<{ status: number; text: string }> {
    const port = this.#settings.config?.['healthzPort'] ?? HEALTHZ_PORT;
    const response = await this.#place.gate.request(`http://127.0.0.1:${String(port)}${path}`);
    return { status: response.status, text: response.text() };
  }

  async exited(): Promise<PartExit> {
    return await this.#running().exited;
  }

  logTail(lines?: number): string {
    return this.#running().logTail(lines);
  }

  #running(): Part {
    if (this.#part === undefined) throw new Error('the kubelet was not started');
    return this.#part;
  }
}
