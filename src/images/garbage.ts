/** Removes images that nobody uses, and keeps the list of images for whoever wants to show it. */
import { formatDuration } from '../api/duration.ts';
import type { Clock } from '../base/clock.ts';
import { CodedError, describeError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import { createWakeBit } from '../base/wake.ts';
import type { Image } from '../wire/gen/cri-runtime-v1.ts';
import { isInterruption } from './failures.ts';
import type { Disk, ImageRuntime, RecordEvent } from './ports.ts';
import {
  type Candidate,
  type GarbageSettings,
  type ImageMemories,
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
  readonly runtime: Pick<ImageRuntime, 'list' | 'remove' | 'fsInfo'>;
  /** Ids or other names of the images that containers use, running or not, and of those mounted as volumes. */
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
  /** One pass by the rules. Rejects with what went wrong, `exhausted` where too little could be freed. */
  collect(signal: AbortSignal): Promise<void>;
  /** Removes everything that nobody uses, for a node that is short of disk; answers the bytes freed. */
  removeUnused(signal: AbortSignal): Promise<number>;
  noteUse(imageId: string): void;
}

const PERIOD_MS = 5 * 60_000;
/** A runtime that is away when the kubelet starts is often back soon. */
const RETRY_MS = 10_000;

export function createGarbage(deps: GarbageDeps, settings: GarbageSettings): Garbage {
  const { clock, log, runtime, record } = deps;
  const wake = createWakeBit();
  const watchingSince = clock.now();
  const removes = settings.highPercent < 100 || settings.maximumAgeMs > 0;
  let memories: ImageMemories = new Map();
  let failedBefore = false;

  const look = async (signal: AbortSignal) => {
    const [images, names] = await Promise.all([runtime.list(signal), deps.imagesInUse(signal)]);
    const inUse = usedImages(images, names);
    const now = clock.now();
    const seen = images.map(({ id, size: bytes, pinned }) => ({ id, bytes, pinned }));
    memories = rememberImages(memories, seen, inUse, now);
    return { images, candidates: removalOrder(memories, inUse, settings, now), now };
  };
  const remove = async ({ id, bytes }: Candidate, why: string, signal: AbortSignal) => {
    log.info('Removing image to free bytes', { imageID: id, size: bytes, reason: why });
    await runtime.remove({ image: id }, signal);
    memories = new Map([...memories].filter(([known]) => known !== id));
  };
  /** All of them, whatever goes wrong with one; what went wrong is told at the end. */
  const removeUntil = async (candidates: readonly Candidate[], why: string, enough: number, signal: AbortSignal) => {
    const problems: string[] = [];
    const removed = new Set<string>();
    let freed = 0;
    for (const candidate of candidates) {
      if (freed >= enough) break;
      try {
        await remove(candidate, why, signal);
        removed.add(candidate.id);
        freed += candidate.bytes;
      } catch (error) {
        signal.throwIfAborted();
        if (isInterruption(error)) throw error;
        problems.push(`${candidate.id}: ${describeError(error)}`);
      }
    }
    return { freed, removed, problems };
  };

  /** What was removed, and why that was not enough if it was not. */
  const freeSpace = async (candidates: readonly Candidate[], now: number, signal: AbortSignal) => {
    const nothing = { removed: new Set<string>(), problem: undefined };
    if (settings.highPercent === 100) return nothing;
    const disk = await imageDisk(deps, signal);
    const space = judgeSpace(disk, settings);
    if (space.kind === 'unknown') {
      const message = 'invalid capacity 0 on image filesystem';
      record({ node: true, type: 'Warning', reason: 'InvalidDiskCapacity', message });
      return { ...nothing, problem: new CodedError('internal', message) };
    }
    if (space.kind === 'enough') return nothing;
    const { usedPercent, bytesToFree } = space;
    log.info('Disk usage on image filesystem is over the high threshold: freeing space', { usedPercent, bytesToFree });
    const old = candidates.filter((candidate) => isOldEnough(candidate, settings, now));
    const { freed, removed, problems } = await removeUntil(old, 'space', bytesToFree, signal);
    if (problems.length > 0) {
      return { removed, problem: deletionError(`${bytesToFree} bytes, but freed ${freed} bytes`, problems) };
    }
    if (freed >= bytesToFree) return { removed, problem: undefined };
    const message = notEnoughFreed(usedPercent, disk.capacityBytes, freed);
    record({ node: true, type: 'Warning', reason: 'FreeDiskSpaceFailed', message });
    return { removed, problem: new CodedError('exhausted', message) };
  };

  const collect = async (signal: AbortSignal) => {
    const { images, candidates, now } = await look(signal);
    const aged = planByAge(candidates, settings, { now, watchingSince });
    const byAge = await removeUntil(aged, 'age', Infinity, signal);
    const left = candidates.filter(({ id }) => !byAge.removed.has(id));
    const forSpace = await freeSpace(left, now, signal);
    await deps.onImages(
      images.filter(({ id }) => !byAge.removed.has(id) && !forSpace.removed.has(id)),
      now,
    );
    if (byAge.problems.length > 0) {
      throw deletionError(`images unused for ${formatDuration(settings.maximumAgeMs)}`, byAge.problems);
    }
    if (forSpace.problem !== undefined) throw forSpace.problem;
  };
  const pass = async (signal: AbortSignal): Promise<number> => {
    try {
      if (removes) await collect(signal);
      else {
        const { images, now } = await look(signal);
        await deps.onImages(images, now);
      }
      failedBefore = false;
      return PERIOD_MS;
    } catch (error) {
      if (signal.aborted) return PERIOD_MS;
      if (isInterruption(error)) return RETRY_MS;
      const message = describeError(error);
      log.error('Image garbage collection failed', { err: error });
      // The first failure is often that of a machine which is still starting.
      if (failedBefore) record({ node: true, type: 'Warning', reason: 'ImageGCFailed', message });
      failedBefore = true;
      return PERIOD_MS;
    }
  };

  return {
    collect,
    hurry: wake.wake,
    noteUse: (id) => {
      memories = markUsed(memories, id, clock.now());
    },
    removeUnused: async (signal) => {
      const { images, candidates, now } = await look(signal);
      const old = candidates.filter((candidate) => isOldEnough(candidate, settings, now));
      const done = await removeUntil(old, 'space', Infinity, signal);
      await deps.onImages(
        images.filter(({ id }) => !done.removed.has(id)),
        now,
      );
      if (done.problems.length > 0) {
        throw deletionError(`all unused images, but freed ${done.freed} bytes`, done.problems);
      }
      return done.freed;
    },
    run: async (signal) => {
      while (!signal.aborted) {
        const rest = await pass(signal);
        using pause = linkSignal(signal);
        const slept = clock.sleep(rest, pause.signal);
        const woken = wake.wait(pause.signal);
        await Promise.race([slept, woken].map((wait) => wait.catch(() => undefined)));
        pause.abort('one of the two has come');
        await Promise.allSettled([slept, woken]);
      }
    },
  };
}

/** Runtimes differ in what they call the image of a container: its id, a tag or a digest. */
function usedImages(images: readonly Image[], names: ReadonlySet<string>): ReadonlySet<string> {
  const isUsed = ({ id, repoTags, repoDigests }: Image) =>
    [id, ...repoTags, ...repoDigests].some((one) => names.has(one));
  return new Set(images.filter(isUsed).map(({ id }) => id));
}

function deletionError(wanted: string, problems: readonly string[]): CodedError {
  return new CodedError('internal', `wanted to free ${wanted} with errors in image deletion: ${problems.join('; ')}`);
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
