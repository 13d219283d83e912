/**
 * Reads cgroups when someone asks for numbers, a few milliseconds at a time, and remembers what CPU rates are computed from. While
 * rates are asked for, CPU counters are read at the housekeeping interval; some time after the last request all reading ends.
 */
import { setImmediate as afterOthers } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { Loop, Supervisor } from '../base/supervise.ts';
import { type CgroupFilesDeps, createCgroupFiles } from './cgroup-files.ts';
import type { Depth } from './rules/needed-files.ts';
import { addReading, isDue, LONGEST_BASE_MS, rateOf, type UsageHistory } from './rules/rate.ts';
import type { CgroupReading, Readings } from './rules/reading.ts';
import type { Target } from './rules/targets.ts';

export interface CollectorDeps extends CgroupFilesDeps {
  readonly clock: Clock;
  readonly supervisor: Pick<Supervisor, 'run'>;
  /** What housekeeping reads. */
  readonly targets: () => readonly Target[];
}

export interface Collector {
  read(targets: readonly Target[], depth: Depth, signal: AbortSignal): Promise<Readings>;
  /** The same for who asks seldom: no file stays open for it, and no rate is counted. */
  readOnce(targets: readonly Target[], depth: Exclude<Depth, 'rates'>, signal: AbortSignal): Promise<Readings>;
  start(signal: AbortSignal): void;
  /** Resolves when housekeeping has ended. */
  stopped(): Promise<void>;
}

/** Longer, and a probe may look failed because of us. */
const SLICE_MS = 2;
/** Between the first two readings of a cgroup, when someone waits for a rate. */
const FIRST_RATE_MS = 250;
/** How long after the last request for rates CPU counters are still read, and how long files stay open after the last request of any kind. */
const ASKED_RECENTLY_MS = 120_000;

export function createCollector(deps: CollectorDeps, { intervalMs }: { readonly intervalMs: number }): Collector {
  const { clock, supervisor } = deps;
  const cgroups = createCgroupFiles(deps);
  const histories = new Map<string, UsageHistory>();
  let stopping: AbortSignal | undefined;
  let keeping: Promise<void> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let ratesAskedAt = Number.NEGATIVE_INFINITY;

  const countUsage = (path: string, usage: number | undefined): void => {
    if (usage === undefined) histories.delete(path);
    else histories.set(path, addReading(histories.get(path), { at: clock.mono(), usage }));
  };

  const readUsages = (targets: readonly Target[], signal: AbortSignal): Promise<void> =>
    inSlices(clock, signal, function* () {
      for (const { path } of targets) {
        countUsage(path, cgroups.usage(path));
        yield;
      }
    });

  const isRecent = (at: number) => clock.mono() - at <= ASKED_RECENTLY_MS;

  const keepHouse = async (signal: AbortSignal): Promise<void> => {
    const targets = deps.targets();
    const now = clock.mono();
    if (isRecent(ratesAskedAt) && intervalMs > 0) {
      const due = targets.filter(({ path }) => isDue(histories.get(path), now, intervalMs));
      await readUsages(due, signal);
    } else histories.clear();
    const known = new Set(targets.map(({ path }) => path));
    for (const path of histories.keys()) if (!known.has(path)) histories.delete(path);
    cgroups.retain((path) => known.has(path));
  };

  const startHousekeeping = (): void => {
    if (keeping !== undefined || stopping === undefined || stopping.aborted) return;
    const loop: Loop = {
      name: 'statistics',
      restFirst: true,
      pass: keepHouse,
      rest: (signal) => clock.sleep(intervalMs > 0 ? intervalMs : ASKED_RECENTLY_MS, signal),
      isDone: () => !isRecent(askedAt),
    };
    keeping = supervisor.run(loop, stopping).finally(() => {
      keeping = undefined;
      histories.clear();
      cgroups.retain(() => false);
    });
  };

  /** There is a reading of each cgroup from which a rate can be counted now. */
  const prepareRates = async (targets: readonly Target[], signal: AbortSignal): Promise<void> => {
    ratesAskedAt = clock.mono();
    const without = targets.filter(({ path }) => !canBeBase(histories.get(path), clock.mono()));
    await readUsages(without, signal);
    const now = clock.mono();
    if (targets.some(({ path }) => isTooYoung(histories.get(path), now))) await clock.sleep(FIRST_RATE_MS, signal);
  };

  const readAll = async (
    targets: readonly Target[],
    depth: Depth,
    { keepOpen, signal }: { readonly keepOpen: boolean; readonly signal: AbortSignal },
  ): Promise<Readings> => {
    const readings = new Map<string, CgroupReading>();
    await inSlices(clock, signal, function* () {
      for (const target of targets) {
        const { path } = target;
        const found = yield* cgroups.read(target, depth, keepOpen);
        if (depth === 'rates' || found === undefined) countUsage(path, found?.cpu?.usage);
        if (found !== undefined) readings.set(path, { ...found, nanoCores: rateOf(histories.get(path)) });
        yield;
      }
    });
    return readings;
  };

  return {
    read: async (targets, depth, signal) => {
      askedAt = clock.mono();
      startHousekeeping();
      if (depth === 'rates') await prepareRates(targets, signal);
      return readAll(targets, depth, { keepOpen: true, signal });
    },
    readOnce: (targets, depth, signal) => readAll(targets, depth, { keepOpen: false, signal }),
    start: (signal) => {
      stopping = signal;
    },
    stopped: async () => {
      await keeping;
    },
  };
}

/** A reading that a rate can count from, so that none has to be made first. */
const canBeBase = (history: UsageHistory | undefined, now: number) =>
  history !== undefined && now - history.last.at < LONGEST_BASE_MS;

const isTooYoung = (history: UsageHistory | undefined, now: number) =>
  history !== undefined && history.base === undefined && now - history.last.at < FIRST_RATE_MS;

/** Steps of work one after the other; after a few milliseconds others come first. */
async function inSlices(clock: Clock, signal: AbortSignal, work: () => Generator<void, void>): Promise<void> {
  let until = clock.mono() + SLICE_MS;
  for (const _ of work()) {
    if (clock.mono() <= until) continue;
    await afterOthers();
    signal.throwIfAborted();
    until = clock.mono() + SLICE_MS;
  }
}
