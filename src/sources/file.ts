/**
 * Pods from files: one file, or all manifests of a directory. A change is seen at once by its inotify event, and at the latest at
 * the check interval; each pass goes over all files and reads those that changed.
 *
 * A file is read when it is whole: after it was closed or moved here, or, without such an event, when it has not changed for
 * a moment. What is wrong with a file is reported, and the pods that it described before stay as they are.
 */
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { Inotify } from '../host/inotify.ts';
import type { RecordEvent } from '../model/event.ts';
import { createDirectoryWatch, type DirectoryWatch } from './directory-watch.ts';
import { type FoundFile, findManifests } from './found-files.ts';
import { KnownFiles } from './known-files.ts';
import type { LastGood } from './last-good.ts';
import { createManifestReader } from './manifest-reader.ts';
import { createReport } from './report.ts';
import type { ManifestRules } from './rules/manifest.ts';
import { type NameOwners, settleNames } from './rules/manifest-files.ts';
import { readStable } from './stable-file.ts';
import type { WatchedPlaces } from './watched-places.ts';

export interface FileSourceConfig {
  /** A file or a directory; it may be missing now and appear later. */
  readonly path: string;
  readonly checkEveryMs: number;
}

export interface FileSourceDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly inotify: Pick<Inotify, 'watch'>;
  readonly rules: ManifestRules;
  readonly record: RecordEvent;
  readonly lastGood: LastGood;
  /** All pods of the source. `heard` is false while a file that was never read can't be read yet. */
  readonly onPods: (pods: readonly Pod[], heard: boolean) => void;
}

/** A file that has just changed, without an event that it was closed, is left alone for this long. */
const SETTLE_MS = 100;
/** While many files are read, their pods are published in between: they need not wait for the rest. */
const PUBLISH_EVERY_MS = 50;

export function createFileSource(config: FileSourceConfig, deps: FileSourceDeps): Part {
  const { clock, log, supervisor } = deps;
  const stopping = linkSignal();
  const bit = createWakeBit();
  let running: Promise<void> = Promise.resolve();

  const run = async (watch: DirectoryWatch): Promise<void> => {
    const readAll = createPass(config, deps, watch);
    let again = 0;
    const pass = async (signal: AbortSignal): Promise<void> => {
      again = await readAll(signal);
    };
    const rest = async (): Promise<void> => {
      if (again > 0) await wakeOrTimeout(bit.wait, again);
    };
    await supervisor.run({ name: 'file source', about: { path: config.path }, pass, rest }, stopping.signal);
    watch.close();
  };

  const wakeOrTimeout = async (wait: (signal: AbortSignal) => Promise<void>, ms: number) => {
    using either = linkSignal(stopping.signal);
    // Whichever comes first ends the other; a wake that came too late counts for the next wait.
    await Promise.race([wait(either.signal), clock.sleep(ms, either.signal)]).finally(() => either.abort('awake'));
  };

  return {
    name: 'file source',
    start: () => {
      running = run(createDirectoryWatch({ inotify: deps.inotify, log, supervisor, wake: bit.wake }));
    },
    stop: async () => {
      stopping.abort('stopped');
      await running;
      await deps.lastGood.settled();
    },
  };
}

/** One pass over all files. Returns in how many milliseconds the next is due if nothing happens before. */
function createPass(config: FileSourceConfig, deps: FileSourceDeps, watch: DirectoryWatch) {
  const { clock } = deps;
  const report = createReport(deps);
  const reader = createManifestReader({ ...deps, report });
  const known = new KnownFiles();
  const publish = createPublisher(deps, report.duplicates);

  return async (signal: AbortSignal): Promise<number> => {
    const places: WatchedPlaces = new Map();
    known.noteDeleted(watch.takeDeleted());
    const found = await findManifests(config.path, places);
    // A directory that was not watched until now may have changed before it was: read it again.
    if (watch.follow(places)) return 0;
    report.unreadable('problem' in found ? [{ path: config.path, text: found.problem }] : found.skipped);
    if ('problem' in found) return config.checkEveryMs;
    const waits = [config.checkEveryMs];
    let heard = true;
    let publishedAt = Number.NEGATIVE_INFINITY;
    const unread = found.files.filter((file) => !known.isCurrent(file));
    for (const [index, file] of unread.entries()) {
      if (index > 0 && clock.mono() - publishedAt >= PUBLISH_EVERY_MS) {
        publish(known, false);
        publishedAt = clock.mono();
      }
      const wait = await read(file, signal);
      if (wait === 0) continue;
      waits.push(wait);
      heard &&= known.has(file.path);
    }
    const gone = known.dropMissing(new Set(found.files.map(({ path }) => path)), clock.mono());
    if (gone !== undefined) waits.push(gone);
    publish(known, heard);
    return Math.min(...waits);
  };

  /** 0: it is read. Otherwise it can't be read yet: try again after so many milliseconds. */
  async function read(file: FoundFile, signal: AbortSignal): Promise<number> {
    const wait = waitFor(file);
    if (wait > 0) return wait;
    const content = await readStable(file);
    if (content.kind === 'changed') return SETTLE_MS;
    const { pods, isGood } = await reader.read(file.path, content, known.podsOf(file.path), signal);
    // Deleted and written again: its pods were gone for a moment, so that they start again also where it is the same as before.
    if (isGood && known.isRewritten(file)) {
      known.set(file, []);
      publish(known, false);
    }
    known.set(file, pods);
    return 0;
  }

  function waitFor(file: FoundFile): number {
    const age = clock.now() - file.modifiedAt;
    switch (watch.takeState(file.target)) {
      case 'complete':
        return 0;
      case 'writing':
        // A program that writes and never closes: what it wrote long ago is all there is.
        return Math.max(config.checkEveryMs - age, 0);
      default:
        return age >= 0 && age < SETTLE_MS ? SETTLE_MS - age : 0;
    }
  }
}

/** Publishes the pods when they, or what is known about them, have changed. */
function createPublisher(
  { log, lastGood, onPods }: FileSourceDeps,
  reportDuplicates: (refused: ReturnType<typeof settleNames>['refused']) => void,
) {
  let owners: NameOwners = new Map();
  let published: readonly Pod[] = [];
  let everHeard = false;

  return (known: KnownFiles, heard: boolean) => {
    const files = known.list();
    const { pods, refused, owners: now } = settleNames(files, owners);
    owners = now;
    reportDuplicates(refused);
    const isChange = published.length !== pods.length || pods.some((pod, at) => pod !== published[at]);
    if (!isChange && (everHeard || !heard)) return;
    published = pods;
    everHeard ||= heard;
    if (everHeard) lastGood.keepOnly(files.map(({ path }) => path));
    log.v(4)?.info('Pods from files', { pods: pods.length });
    onPods(pods, everHeard);
  };
}
