/** Images: pulls them for containers, decides who may use them, and removes unused ones. The public entry point. */
import type { Container } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Config } from '../config/config.ts';
import type { RecordEvent } from '../model/event.ts';
import type { ImageAnswer, PullPolicy } from '../model/image.ts';
import { fieldPathOf } from '../plan/roles.ts';
import type { Image, PodSandboxConfig } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';
import { type CredentialPluginSettings, openCredentialPlugins } from './credential-plugins.ts';
import { type CredentialPlugins, type Credentials, createCredentials } from './credentials.ts';
import { createDockerConfigFiles } from './docker-config-files.ts';
import { createEnsure, type EnsureReport } from './ensure.ts';
import { createGarbage } from './garbage.ts';
import { type InUseDeps, imagesInUse } from './in-use.ts';
import type { CredentialObjects, Disk, ImageRuntime, Surroundings } from './ports.ts';
import { createPullProgress } from './progress.ts';
import { createPullRecords } from './pull-records.ts';
import { createPulls, type PullSettings } from './pulls.ts';
import type { GarbageSettings } from './rules/garbage.ts';
import { parseImageName } from './rules/image-name.ts';
import type { Download } from './rules/progress.ts';
import { imageSettings } from './rules/settings.ts';
import type { Verification } from './rules/verification.ts';

export interface ImagesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly runtime: ImageRuntime;
  readonly record: RecordEvent;
  /** All containers of the runtime, running or not. */
  readonly listContainers: InUseDeps['listContainers'];
  /** The pods of this node. */
  readonly pods: () => readonly Pod[];
  /** Of the file system that this path is on. */
  readonly diskOf: (path: string, signal: AbortSignal) => Promise<Disk>;
  /** The runtime may unpack an image as the sandbox of the pod needs it. */
  readonly sandboxConfigOf: (pod: Pod, signal: AbortSignal) => Promise<Init<PodSandboxConfig> | undefined>;
  readonly surroundings: Surroundings;
  /** Called for each request for an image: for metrics. */
  readonly onEnsured?: ((report: EnsureReport) => void) | undefined;
  /** Undefined for a kubelet without an API server: pull secrets then count as missing. */
  readonly objects?: CredentialObjects | undefined;
  /** What the runtime downloads now for images of a repository, such as `docker.io/library/busybox`, where it reports that. */
  readonly downloadsOf?: (repository: string, signal: AbortSignal) => Promise<readonly Download[] | undefined>;
}

export interface ImagesConfig {
  readonly rootDirectory: string;
  readonly pulls: PullSettings;
  /** Undefined where every pod may use every image of the machine. */
  readonly verification: Verification | undefined;
  readonly garbage: GarbageSettings;
  /** Credential providers; undefined for none. */
  readonly plugins: CredentialPluginSettings | undefined;
}

/** From the configuration of the whole kubelet. */
export function imagesConfig(config: Config): ImagesConfig {
  return imageSettings(config);
}

export interface Images {
  /** Opens plugins and pull records before any `ensure`, and removes images from then on. Fails to start with an invalid plugin file. */
  readonly part: Part;
  /**
   * Rejects with the signal's reason as soon as it aborts: the pull is cancelled and its slot is free. Rejects with `unavailable`
   * while the runtime does not answer.
   */
  ensure(request: {
    readonly pod: Pod;
    readonly container: Container;
    readonly signal: AbortSignal;
  }): Promise<ImageAnswer>;
  /** For an image that is mounted as a volume. */
  ensureVolume(request: {
    readonly pod: Pod;
    readonly image: string;
    readonly policy: PullPolicy;
    readonly signal: AbortSignal;
  }): Promise<ImageAnswer>;
  /** What the runtime downloads for this image now; undefined where it does not report that. */
  downloadsOf(image: string, signal: AbortSignal): Promise<readonly Download[] | undefined>;
  /** As of the last list, at most some minutes ago. */
  list(): readonly Image[];
  /** One pass of the rules for removing images. */
  collect(signal: AbortSignal): Promise<void>;
  /** Removes all unused images; resolves with the bytes freed. */
  removeUnused(enough: number, signal: AbortSignal): Promise<number>;
}

export function createImages(deps: ImagesDeps, config: ImagesConfig): Images {
  const { clock, log } = deps;
  const { verification } = config;
  const records = createPullRecords({ clock, log }, config.rootDirectory);
  let listed: readonly Image[] = [];
  const onImages = async (images: readonly Image[], startedAt: number) => {
    listed = images;
    if (verification === undefined) return;
    await records.settle(images);
    await records.prune(new Set(images.map(({ id }) => id)), startedAt);
  };
  const garbage = createGarbage(
    { ...deps, onImages, imagesInUse: (signal) => imagesInUse(deps, signal) },
    config.garbage,
  );
  const plugins = createPluginsPart(deps, config);
  const downloadsOf = createDownloadsOf(deps);
  const ensure = createEnsure({
    ...deps,
    pulls: createPulls(deps, config.pulls),
    credentials: createNodeCredentials(deps, config, plugins),
    progress: createPullProgress({ ...deps, downloadsOf }),
    onUse: (id) => garbage.noteUse(id),
    onDiskFull: () => garbage.hurry(),
    access: verification === undefined ? undefined : { records, verification },
  });
  const open = async () => {
    await plugins.open();
    if (verification !== undefined) await records.open();
  };
  return {
    part: createPart(open, (signal) => garbage.run(signal)),
    ensure: ({ pod, container, signal }) => {
      const { name, image = '', imagePullPolicy: policy = 'IfNotPresent' } = container;
      return ensure({ pod, image, policy, fieldPath: fieldPathOf(pod, name) }, signal);
    },
    ensureVolume: ({ pod, image, policy, signal }) => ensure({ pod, image, policy, fieldPath: undefined }, signal),
    downloadsOf,
    list: () => listed,
    collect: (signal) => garbage.collect(signal),
    removeUnused: (enough, signal) => garbage.removeUnused(enough, signal),
  };
}

function createPart(open: () => Promise<void>, run: (signal: AbortSignal) => Promise<void>): Part {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  return {
    name: 'images',
    start: async () => {
      await open();
      running = run(stopping.signal);
    },
    stop: async () => {
      stopping.abort('the kubelet is stopping');
      await running;
    },
  };
}

/** Plugins are programs on disk: their configuration is read when the part starts, not when it is built. */
function createPluginsPart({ clock, log, surroundings, objects }: ImagesDeps, { plugins: settings }: ImagesConfig) {
  const { environment } = surroundings;
  let opened: CredentialPlugins = { provide: () => Promise.resolve([]) };
  return {
    open: async () => {
      if (settings === undefined) return;
      opened = await openCredentialPlugins({ clock, log, environment, objects }, settings);
    },
    provide: (...request: Parameters<CredentialPlugins['provide']>) => opened.provide(...request),
  };
}

function createNodeCredentials(
  { clock, log, surroundings, objects }: ImagesDeps,
  { rootDirectory }: ImagesConfig,
  plugins: CredentialPlugins,
): Credentials {
  const files = createDockerConfigFiles({ clock, log }, { ...surroundings, rootDirectory });
  return createCredentials({ files, plugins, objects });
}

/** By the name that pods have for an image. */
function createDownloadsOf({ downloadsOf }: ImagesDeps): Images['downloadsOf'] {
  return async (image, signal) => {
    const name = parseImageName(image);
    return name.ok ? await downloadsOf?.(name.value.repository, signal) : undefined;
  };
}
