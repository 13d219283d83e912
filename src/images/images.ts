/** Images: pulls them for containers, decides who may use them, and removes the ones that nobody needs. The front door. */
import type { Container } from '../api/container.ts';
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Config } from '../config/config.ts';
import { fieldPathOf } from '../plan/roles.ts';
import type { Image, PodSandboxConfig } from '../wire/gen/cri-runtime-v1.ts';
import type { Init } from '../wire/message.ts';
import { type CredentialPluginSettings, openCredentialPlugins } from './credential-plugins.ts';
import { type CredentialPlugins, createCredentials } from './credentials.ts';
import { createDockerConfigFiles } from './docker-config-files.ts';
import { createEnsure, type ImageAnswer } from './ensure.ts';
import { createGarbage } from './garbage.ts';
import type { CredentialObjects, Disk, ImageRuntime, RecordEvent, Surroundings } from './ports.ts';
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
  readonly runtime: ImageRuntime;
  readonly record: RecordEvent;
  /** Ids or other names of the images that containers use, running or not, and of those mounted as volumes. */
  readonly imagesInUse: (signal: AbortSignal) => Promise<ReadonlySet<string>>;
  /** Of the file system that this path is on. */
  readonly diskOf: (path: string, signal: AbortSignal) => Promise<Disk>;
  /** The runtime may unpack an image as the sandbox of the pod needs it. */
  readonly sandboxConfigOf: (pod: Pod, signal: AbortSignal) => Promise<Init<PodSandboxConfig> | undefined>;
  readonly surroundings: Surroundings;
  /** Undefined for a kubelet without an API server: pull secrets then count as missing. */
  readonly objects?: CredentialObjects | undefined;
  /** What the runtime downloads now for images of a repository, such as `docker.io/library/busybox`, where it can say. */
  readonly downloadsOf?: (repository: string, signal: AbortSignal) => Promise<readonly Download[] | undefined>;
}

export interface ImagesConfig {
  readonly rootDirectory: string;
  readonly pulls: PullSettings;
  /** Undefined where every pod may use whatever is on the machine. */
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
  /** Opens plugins and pull records before any `ensure`, and removes images from then on. Can't start with a wrong plugin file. */
  readonly part: Part;
  /**
   * Rejects with the signal's reason as soon as it aborts: the pull is cancelled and its turn is free. Rejects with `unavailable`
   * while the runtime is away.
   */
  ensure(wish: {
    readonly pod: Pod;
    readonly container: Container;
    readonly signal: AbortSignal;
  }): Promise<ImageAnswer>;
  /** For an image that is mounted as a volume. */
  ensureVolume(wish: {
    readonly pod: Pod;
    readonly image: string;
    readonly policy: 'Always' | 'IfNotPresent' | 'Never';
    readonly signal: AbortSignal;
  }): Promise<ImageAnswer>;
  /** As of the last look, at most some minutes ago. */
  list(): readonly Image[];
  /** One pass of the rules for removing images. */
  collect(signal: AbortSignal): Promise<void>;
  /** Removes all that nobody uses; answers the bytes freed. */
  removeUnused(signal: AbortSignal): Promise<number>;
}

export function createImages(deps: ImagesDeps, config: ImagesConfig): Images {
  const { clock, log, runtime, record } = deps;
  const records = createPullRecords({ clock, log }, config.rootDirectory);
  let listed: readonly Image[] = [];
  const garbage = createGarbage(
    {
      ...deps,
      onImages: async (images, startedAt) => {
        listed = images;
        if (config.verification === undefined) return;
        await records.settle(images);
        await records.prune(new Set(images.map(({ id }) => id)), startedAt);
      },
    },
    config.garbage,
  );
  let plugins: CredentialPlugins = { provide: () => Promise.resolve([]) };
  const places = { ...deps.surroundings, rootDirectory: config.rootDirectory };
  const ensure = createEnsure({
    clock,
    runtime,
    record,
    pulls: createPulls({ runtime, clock }, config.pulls),
    credentials: createCredentials({
      files: createDockerConfigFiles({ clock, log }, places),
      plugins: { provide: (pod, repository, signal) => plugins.provide(pod, repository, signal) },
      objects: deps.objects,
    }),
    progress: createPullProgress({
      clock,
      downloadsOf: async (image, signal) => {
        const name = parseImageName(image);
        return name.ok ? await deps.downloadsOf?.(name.value.repository, signal) : undefined;
      },
    }),
    sandboxConfigOf: deps.sandboxConfigOf,
    onUse: garbage.noteUse,
    onDiskFull: garbage.hurry,
    access: config.verification === undefined ? undefined : { records, verification: config.verification },
  });

  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  return {
    part: {
      name: 'images',
      start: async () => {
        if (config.plugins !== undefined) {
          const { environment } = deps.surroundings;
          plugins = await openCredentialPlugins({ clock, log, environment, objects: deps.objects }, config.plugins);
        }
        if (config.verification !== undefined) await records.open();
        running = garbage.run(stopping.signal);
      },
      stop: async () => {
        stopping.abort('the kubelet is stopping');
        await running;
      },
    },
    ensure: ({ pod, container, signal }) =>
      ensure(
        {
          pod,
          image: container.image ?? '',
          policy: container.imagePullPolicy ?? 'IfNotPresent',
          fieldPath: fieldPathOf(pod, container.name),
        },
        signal,
      ),
    ensureVolume: ({ pod, image, policy, signal }) => ensure({ pod, image, policy, fieldPath: undefined }, signal),
    list: () => listed,
    collect: garbage.collect,
    removeUnused: garbage.removeUnused,
  };
}
