/**
 * Pods from files: one file, or all manifests of a folder. A change is seen at once by its inotify event, and at the latest at
 * the check interval; each look goes over all files and reads those that changed.
 *
 * A file is read when it is whole: after it was closed or moved here, or, where no event told so, when it has not changed for
 * a moment. What is wrong with a file is told and changes nothing about the pods that it described before.
 */
import type { Pod } from '../api/pod.ts';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import { createWakeBit } from '../base/wake.ts';
import type { RecordEvent } from '../events/events.ts';
import type { Inotify } from '../host/inotify.ts';
import { createFolderWatch, type FolderWatch } from './folder-watch.ts';
import { type FoundFile, findManifests } from './found-files.ts';
import { readInSteps } from './read-in-steps.ts';
import { createReport } from './report.ts';
import { type ManifestRules, readManifest } from './rules/manifest.ts';
import { type NameOwners, podsAfterReading, settleNames } from './rules/manifest-files.ts';
import { readStable } from './stable-file.ts';
import type { WatchedPlaces } from './watched-places.ts';

export interface FileSourceConfig {
  /** A file or a folder; it may be missing now and appear later. */
  readonly path: string;
  readonly checkEveryMs: number;
}

export interface FileSourceDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly inotify: Pick<Inotify, 'watch'>;
  readonly rules: ManifestRules;
  readonly record: RecordEvent;
  /** All pods of the source. `heard` is false while a file that was never read can't be read yet. */
  readonly onPods: (pods: readonly Pod[], heard: boolean) => void;
}

/** A file that was just changed and whose end nobody told of is left alone for this long. */
const SETTLE_MS = 100;
/** Some editors take the old file away before they put the new one in its place. */
const VANISH_MS = 100;

interface KnownFile {
  readonly fingerprint: string;
  readonly pods: readonly Pod[];
  /** Not there at the last look, since this monotonic time. */
  readonly missingSince: number | undefined;
}

export function createFileSource(config: FileSourceConfig, deps: FileSourceDeps): Part {
  const { clock, log } = deps;
  const stopping = linkSignal();
  const bit = createWakeBit();
  let running: Promise<void> = Promise.resolve();

  const run = async (watch: FolderWatch) => {
    const look = createLook(config, deps, watch);
    while (!stopping.signal.aborted) {
      const again = await look(stopping.signal);
      if (again > 0) await wakeOrTimeout(bit.wait, again);
    }
  };

  const wakeOrTimeout = async (wait: (signal: AbortSignal) => Promise<void>, ms: number) => {
    using either = linkSignal(stopping.signal);
    // Whichever comes first ends the other; a wake that came too late counts for the next wait.
    await Promise.race([wait(either.signal), clock.sleep(ms, either.signal)]).finally(() => either.abort('awake'));
  };

  return {
    name: 'file source',
    start: () => {
      const watch = createFolderWatch({ inotify: deps.inotify, log, wake: bit.wake });
      running = run(watch)
        .catch((error: unknown) => {
          if (!stopping.signal.aborted)
            log.error('File source failed', { path: config.path, err: describeError(error) });
        })
        .finally(watch.close);
    },
    stop: async () => {
      stopping.abort('stopped');
      await running;
    },
  };
}

/** One look at all files. Answers in how many milliseconds the next is due if nothing happens before. */
function createLook(config: FileSourceConfig, deps: FileSourceDeps, watch: FolderWatch) {
  const { clock, log } = deps;
  const report = createReport(deps);
  const known = new Map<string, KnownFile>();
  let owners: NameOwners = new Map();
  let published: readonly Pod[] | undefined;
  let heard = false;
  let toldHeard = false;

  return async (signal: AbortSignal): Promise<number> => {
    const places: WatchedPlaces = new Map();
    const found = await findManifests(config.path, places);
    // A folder that was not watched until now may have changed before it was: look again.
    const addedWatch = watch.follow(places);
    if ('problem' in found) {
      report.trouble(config.path, found.problem);
      return config.checkEveryMs;
    }
    for (const { path, text } of found.skipped) report.trouble(path, text);
    const waits = [config.checkEveryMs];
    let unread = false;
    for (const file of found.files) {
      const wait = await readIfChanged(file, signal);
      if (wait === undefined) continue;
      waits.push(wait);
      unread ||= !known.has(file.path);
    }
    waits.push(...forgetMissing(new Set(found.files.map(({ path }) => path))));
    heard ||= !unread && !addedWatch;
    if (!addedWatch) publish();
    return addedWatch ? 0 : Math.min(...waits);
  };

  /** Undefined: it is known as it is now. A number: it can't be read yet, look again after so long. */
  async function readIfChanged(file: FoundFile, signal: AbortSignal): Promise<number | undefined> {
    const before = known.get(file.path);
    if (before?.fingerprint === file.fingerprint) {
      if (before.missingSince !== undefined) known.set(file.path, { ...before, missingSince: undefined });
      return undefined;
    }
    const wait = waitFor(file);
    if (wait > 0) return wait;
    const content = await readStable(file);
    if (content.kind === 'changed') return SETTLE_MS;
    const reading =
      content.kind === 'text'
        ? await readInSteps(readManifest(content.text, deps.rules), clock, signal)
        : { pods: [], problems: [{ place: undefined, text: content.problem }], warnings: [] };
    const { pods, kept } = podsAfterReading(before?.pods ?? [], reading);
    known.set(file.path, { fingerprint: file.fingerprint, pods, missingSince: undefined });
    report.reading(file.path, reading, kept);
    return undefined;
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

  function forgetMissing(present: ReadonlySet<string>): readonly number[] {
    const waits: number[] = [];
    const now = clock.mono();
    for (const [path, file] of known) {
      if (present.has(path)) continue;
      const since = file.missingSince ?? now;
      if (now - since >= VANISH_MS) {
        known.delete(path);
        report.forget(path);
      } else {
        known.set(path, { ...file, missingSince: since });
        waits.push(VANISH_MS - (now - since));
      }
    }
    return waits;
  }

  function publish(): void {
    const files = [...known].map(([path, { pods }]) => ({ path, pods }));
    files.sort((left, right) => (left.path < right.path ? -1 : 1));
    const settled = settleNames(files, owners);
    owners = settled.owners;
    report.duplicates(settled.refused);
    const { pods } = settled;
    const isNews =
      published === undefined || pods.length !== published.length || pods.some((pod, at) => pod !== published?.[at]);
    if (!isNews && !(heard && !toldHeard)) return;
    published = pods;
    toldHeard = heard;
    log.v(4)?.info('Pods from files', { path: config.path, pods: pods.length });
    deps.onPods(pods, heard);
  }
}
