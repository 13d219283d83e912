/** Removes images that no one uses, and keeps the list of images for the node's status. */

import { formatDuration } from '../api/duration.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { RecordEvent } from '../model/event.ts';
import { isInterruption } from '../model/runtime-failure.ts';
import type { Image } from '../wire/gen/cri-runtime-v1.ts';
import type { Disk, ImageRuntime } from './ports.ts';
import {
  type Candidate,
  type GarbageSettings,
  type ImageMemories,
  isKept,
  isOldEnough,
  judgeSpace,
  markUsed,
  notEnoughFreed,
  planByAge,
  rememberImages,
  removalOrder,
} from './rules/garbage.ts';

export interface GarbageDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly runtime: Pick<ImageRuntime, 'list' | 'remove' | 'fsInfo'>;
  /** Ids or other names of the images that containers use, running or not, and of those that pods of this node name. */
  readonly imagesInUse: (signal: AbortSignal) => Promise<ReadonlySet<string>>;
  /** Of the file system that this path is on. */
  readonly diskOf: (path: string, signal: AbortSignal) => Promise<Disk>;
  readonly record: RecordEvent;
  /** After each pass, with the images that are left. */
  readonly onImages: (images: readonly Image[], startedAt: number) => Promise<void>;
}

export interface Garbage {
  /** Until the signal aborts: a pass every 5 minutes, and sooner after `hurry`. */
  run(signal: AbortSignal): Promise<void>;
  hurry(): void;
  /** One pass by the rules. Rejects with the failure, `exhausted` where too little could be freed. */
  collect(signal: AbortSignal): Promise<void>;
  /** Removes unused images, the longest unused first, until so many bytes are free; resolves with the bytes freed. */
  removeUnused(enough: number, signal: AbortSignal): Promise<number>;
  noteUse(imageId: string): void;
}

const PERIOD_MS = 5 * 60_000;
/** A runtime that does not answer when the kubelet starts often does soon after. */
const RETRY_MS = 10_000;

export function createGarbage(deps: GarbageDeps, settings: GarbageSettings): Garbage {
  return new Collector(deps, settings);
}

interface Look {
  readonly images: readonly Image[];
  readonly candidates: readonly Candidate[];
  readonly now: number;
}

interface Removal {
  readonly freed: number;
  readonly removed: ReadonlySet<string>;
  readonly problems: readonly string[];
}

class Collector implements Garbage {
  readonly #deps: GarbageDeps;
  readonly #settings: GarbageSettings;
  readonly #wake = createWakeBit();
  readonly #watchingSince: number;
  #memories: ImageMemories = new Map();
  #failedBefore = false;

  constructor(deps: GarbageDeps, settings: GarbageSettings) {
    this.#deps = deps;
    this.#settings = settings;
    this.#watchingSince = deps.clock.now();
  }

  noteUse(imageId: string): void {
    this.#memories = markUsed(this.#memories, imageId, this.#deps.clock.now());
  }

  hurry(): void {
    this.#wake.wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    let restMs = 0;
    const pass = async () => {
      restMs = await this.#pass(signal);
    };
    const rest = () => this.#rest(restMs, signal);
    await this.#deps.supervisor.run({ name: 'image garbage collection', pass, rest }, signal);
  }

  /** Ends early after `hurry`. */
  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    using pause = linkSignal(signal);
    const slept = this.#deps.clock.sleep(ms, pause.signal);
    const woken = this.#wake.wait(pause.signal);
    await Promise.race([slept, woken].map((wait) => wait.catch(() => undefined)));
    pause.abort('one of the two has come');
    await Promise.allSettled([slept, woken]);
  }

  async collect(signal: AbortSignal): Promise<void> {
    const { maximumAgeMs } = this.#settings;
    const { images, candidates, now } = await this.#look(signal);
    const aged = planByAge(candidates, this.#settings, { now, watchingSince: this.#watchingSince });
    const byAge = await this.#remove(aged, { why: 'age', enough: Infinity }, signal);
    const left = candidates.filter(({ id }) => !byAge.removed.has(id));
    const forSpace = await this.#freeSpace(left, now, signal);
    const stays = ({ id }: Image) => !byAge.removed.has(id) && !forSpace.removed.has(id);
    await this.#deps.onImages(images.filter(stays), now);
    if (byAge.problems.length > 0) {
      throw deletionError(`images unused for ${formatDuration(maximumAgeMs)}`, byAge.problems);
    }
    if (forSpace.problem !== undefined) throw forSpace.problem;
  }

  async removeUnused(enough: number, signal: AbortSignal): Promise<number> {
    const { images, candidates, now } = await this.#look(signal);
    const { freed, removed, problems } = await this.#removeOld(candidates, { now, enough }, signal);
    await this.#deps.onImages(
      images.filter(({ id }) => !removed.has(id)),
      now,
    );
    if (problems.length > 0) throw deletionError(`all unused images, but freed ${freed} bytes`, problems);
    return freed;
  }

  /** Resolves with the time until the next pass. */
  async #pass(signal: AbortSignal): Promise<number> {
    const { highPercent, maximumAgeMs } = this.#settings;
    try {
      if (highPercent < 100 || maximumAgeMs > 0) await this.collect(signal);
      else {
        const { images, now } = await this.#look(signal);
        await this.#deps.onImages(images, now);
      }
      this.#failedBefore = false;
      return PERIOD_MS;
    } catch (error) {
      if (signal.aborted) return PERIOD_MS;
      if (isInterruption(error)) return RETRY_MS;
      this.#deps.log.error('Image garbage collection failed', { err: error });
      // The first failure often comes from a machine that is still starting.
      if (this.#failedBefore) this.#warn('ImageGCFailed', describeError(error));
      this.#failedBefore = true;
      return PERIOD_MS;
    }
  }

  async #look(signal: AbortSignal): Promise<Look> {
    const { runtime, clock } = this.#deps;
    const [images, names] = await Promise.all([runtime.list(signal), this.#deps.imagesInUse(signal)]);
    const inUse = usedImages(images, names);
    const now = clock.now();
    const seen = images.map(({ id, size: bytes, pinned, repoTags, repoDigests }) => ({
      id,
      bytes,
      pinned: pinned || isKept([id, ...repoTags, ...repoDigests], this.#settings),
    }));
    this.#memories = rememberImages(this.#memories, seen, inUse, now);
    return { images, candidates: removalOrder(this.#memories, inUse, this.#settings, now), now };
  }

  /** What was removed, and the reason if that was not enough. */
  async #freeSpace(
    candidates: readonly Candidate[],
    now: number,
    signal: AbortSignal,
  ): Promise<{ readonly removed: ReadonlySet<string>; readonly problem: CodedError | undefined }> {
    const nothing = { removed: new Set<string>(), problem: undefined };
    if (this.#settings.highPercent === 100) return nothing;
    const disk = await imageDisk(this.#deps, signal);
    const space = judgeSpace(disk, this.#settings);
    if (space.kind === 'enough') return nothing;
    if (space.kind === 'unknown') {
      const message = 'invalid capacity 0 on image filesystem';
      this.#warn('InvalidDiskCapacity', message);
      return { ...nothing, problem: new CodedError('internal', message) };
    }
    const { usedPercent, bytesToFree: enough } = space;
    this.#deps.log.info('Disk usage on image filesystem is over the high threshold', { usedPercent, toFree: enough });
    const { freed, removed, problems } = await this.#removeOld(candidates, { now, enough }, signal);
    if (problems.length > 0) {
      return { removed, problem: deletionError(`${enough} bytes, but freed ${freed} bytes`, problems) };
    }
    if (freed >= enough) return { removed, problem: undefined };
    const message = notEnoughFreed(usedPercent, disk.capacityBytes, freed);
    this.#warn('FreeDiskSpaceFailed', message);
    return { removed, problem: new CodedError('exhausted', message) };
  }

  #removeOld(
    candidates: readonly Candidate[],
    { now, enough }: { readonly now: number; readonly enough: number },
    signal: AbortSignal,
  ): Promise<Removal> {
    const old = candidates.filter((candidate) => isOldEnough(candidate, this.#settings, now));
    return this.#remove(old, { why: 'space', enough }, signal);
  }

  /** Until enough bytes are free; a failure with one image does not stop it. */
  async #remove(
    candidates: readonly Candidate[],
    { why, enough }: { readonly why: string; readonly enough: number },
    signal: AbortSignal,
  ): Promise<Removal> {
    const { log, runtime } = this.#deps;
    const problems: string[] = [];
    const removed = new Set<string>();
    let freed = 0;
    for (const { id, bytes } of candidates) {
      if (freed >= enough) break;
      log.info('Removing image to free bytes', { imageID: id, size: bytes, reason: why });
      try {
        await runtime.remove({ image: id }, signal);
        removed.add(id);
        freed += bytes;
      } catch (error) {
        signal.throwIfAborted();
        if (isInterruption(error)) throw error;
        problems.push(`${id}: ${describeError(error)}`);
      }
    }
    this.#memories = new Map([...this.#memories].filter(([id]) => !removed.has(id)));
    return { freed, removed, problems };
  }

  #warn(reason: string, message: string): void {
    this.#deps.record({ node: true, type: 'Warning', reason, message });
  }
}

/** Runtimes differ in what they call the image of a container: its id, a tag or a digest. */
function usedImages(images: readonly Image[], names: ReadonlySet<string>): ReadonlySet<string> {
  const isUsed = ({ id, repoTags, repoDigests }: Image) =>
    [id, ...repoTags, ...repoDigests].some((one) => names.has(one));
  return new Set(images.filter(isUsed).map(({ id }) => id));
}

function deletionError(toFree: string, problems: readonly string[]): CodedError {
  return new CodedError('internal', `wanted to free ${toFree} with errors in image deletion: ${problems.join('; ')}`);
}

/** The fullest of the file systems that hold images. */
async function imageDisk({ runtime, diskOf }: GarbageDeps, signal: AbortSignal): Promise<Disk> {
  const { imageFilesystems } = await runtime.fsInfo(signal);
  const paths = imageFilesystems.flatMap(({ fsId }) => (fsId === undefined ? [] : [fsId.mountpoint]));
  if (paths.length === 0) throw new CodedError('unsupported', 'the runtime names no image filesystem');
  const disks = await Promise.all(paths.map((path) => diskOf(path, signal)));
  return disks.reduce((fullest, disk) => (share(disk) < share(fullest) ? disk : fullest));
}

const share = ({ availableBytes, capacityBytes }: Disk): number => availableBytes / Math.max(capacityBytes, 1);
