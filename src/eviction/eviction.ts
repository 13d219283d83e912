/**
 * Keeps the node able to work: watches what is free, and where too little is, frees what no one needs and then evicts pods, one at a
 * time. See docs/eviction.md.
 *
 *   read signals ──none short──► rest, until the kernel reports a shortage or some seconds have passed
 *     └──short──► free logs, dead containers and images ──enough──► rest
 *                    └──not enough──► rank pods, evict the first that may go, wait for its end ──► read signals
 */
import type { Part } from '../base/lifecycle.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit, type WakeBit } from '../base/wake.ts';
import type { EvictionSignal, SignalReadings } from '../model/usage.ts';
import { type EvictorConfig, type EvictorDeps, evictForLimits, relieve } from './evictor.ts';
import { createNotifier, watchStalls } from './notifier.ts';
import type { MemoryAlarm, StallAlarm } from './ports.ts';
import type { EvictionDecision } from './rules/decision.ts';
import { nextLookMs } from './rules/next-look.ts';
import { NO_PRESSURE, type PressureConfig, type PressureStep, stepPressure } from './rules/pressure-state.ts';
import type { PressureKind, Thresholds } from './rules/threshold.ts';

export interface Eviction extends Part {
  /** What the node is short of now, as its conditions show it. */
  pressure(): Readonly<Record<PressureKind, boolean>>;
  /** The last decisions, the newest last. */
  decisions(): readonly EvictionDecision[];
}

export interface EvictionDeps extends Omit<EvictorDeps, 'onDecision'> {
  readonly supervisor: Supervisor;
  /** Undefined: the kernel reports nothing. */
  readonly alarm: MemoryAlarm | undefined;
  /** Undefined: not asked for. */
  readonly stalls: StallAlarm | undefined;
  /** The conditions of the node have changed. */
  onPressure(): void;
  /** For metrics: how old the numbers were that a decision was made on. */
  onStatsAge(signal: string, seconds: number): void;
}

export type EvictionConfig = EvictorConfig &
  PressureConfig &
  Thresholds & {
    /** kernelMemcgNotification: without notifications of the kernel, the node is looked at as often as that takes. */
    readonly quickMemory: boolean;
  };

/** From crossing a threshold of a disk to the kill no more than 10 s may pass, of memory with `quickMemory` 2 s. */
const LONGEST_LOOK_MS = 5000;
const SHORTEST_LOOK_MS = 1000;
/** Of the reference. Sizes of pods are read for it. */
const LIMITS_EVERY_MS = 10_000;
/** After an attempt that cost no pod: either enough is free, or nothing more can be freed. */
const BETWEEN_ATTEMPTS_MS = 5000;
const BETWEEN_WAKES_MS = 200;
const DECISIONS_KEPT = 50;

export function createEviction(deps: EvictionDeps, config: EvictionConfig): Eviction {
  const { clock, log, usage } = deps;
  const kept: EvictionDecision[] = [];
  const onDecision = (decision: EvictionDecision) => {
    kept.push(decision);
    kept.splice(0, kept.length - DECISIONS_KEPT);
  };
  const evictor: EvictorDeps = { ...deps, onDecision };
  const woken = createWakeBit();
  const notifier =
    deps.alarm && createNotifier({ clock, log, alarm: deps.alarm, onCrossed: woken.wake }, config.thresholds);
  const longestMs = config.quickMemory && notifier === undefined ? SHORTEST_LOOK_MS : LONGEST_LOOK_MS;
  const state: LoopState = {
    last: { state: NO_PRESSURE, conditions: new Set(), due: [] },
    readings: new Map(),
    restMs: 0,
    limitsReadAt: Number.NEGATIVE_INFINITY,
    attemptedAt: new Map(),
  };
  let running: Promise<void> = Promise.resolve();

  const pass = async (signal: AbortSignal): Promise<void> => {
    state.restMs = longestMs;
    const readings = await usage.signals(signal);
    notifier?.update(readings);
    const thresholds = usage.imageDisk().isSplit ? config.splitThresholds : config.thresholds;
    state.restMs = nextLookMs(thresholds, state.readings, readings, { shortestMs: SHORTEST_LOOK_MS, longestMs });
    state.readings = readings;
    // After an eviction the node is looked at again at once: one pod may not be enough.
    if (await act({ deps, evictor, config: { ...config, thresholds }, state }, readings, signal)) state.restMs = 0;
  };

  return {
    name: 'eviction',
    start: (signal) => {
      if (config.thresholds.length === 0 && !config.limitsStorage) return;
      for (const text of config.ignored) log.info(text);
      const rest = () => restUntilWoken(clock.sleep, { restMs: state.restMs, woken }, signal);
      const stalls = deps.stalls && watchStalls({ log, stalls: deps.stalls }, woken.wake);
      running = deps.supervisor.run({ name: 'eviction', pass, rest }, signal).finally(() => {
        notifier?.close();
        stalls?.close();
      });
    },
    stop: () => running,
    pressure: () => ({
      memory: state.last.conditions.has('memory'),
      disk: state.last.conditions.has('disk'),
      pid: state.last.conditions.has('pid'),
    }),
    decisions: () => [...kept],
  };
}

interface LoopState {
  last: PressureStep;
  readings: SignalReadings;
  restMs: number;
  limitsReadAt: number;
  /** When relief was last sought without evicting a pod. */
  readonly attemptedAt: Map<EvictionSignal, number>;
}

/** Whether a pod was evicted. */
async function act(
  {
    deps,
    evictor,
    config,
    state,
  }: { deps: EvictionDeps; evictor: EvictorDeps; config: EvictionConfig; state: LoopState },
  readings: SignalReadings,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = deps;
  const before = state.last;
  state.last = stepPressure(before.state, readings, config, clock.now());
  if (before.conditions.symmetricDifference(state.last.conditions).size > 0) deps.onPressure();
  const { due } = state.last;
  if (clock.mono() - state.limitsReadAt >= LIMITS_EVERY_MS) {
    state.limitsReadAt = clock.mono();
    if (await evictForLimits(evictor, config, signal)) return true;
  }
  const isTooSoon = (name: EvictionSignal) =>
    clock.mono() - (state.attemptedAt.get(name) ?? Number.NEGATIVE_INFINITY) < BETWEEN_ATTEMPTS_MS;
  const threshold = due.find(({ signal: name }) => !isTooSoon(name));
  if (threshold === undefined) return false;
  for (const { signal: name } of due) {
    deps.onStatsAge(name, (clock.now() - (readings.get(name)?.time ?? clock.now())) / 1000);
  }
  const hasEvicted = await relieve(evictor, config, { threshold, readings }, signal);
  if (!hasEvicted) state.attemptedAt.set(threshold.signal, clock.mono());
  return hasEvicted;
}

/** A use of memory that swings around a threshold must not keep the kubelet busy. */
async function restUntilWoken(
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
  { restMs, woken }: { readonly restMs: number; readonly woken: WakeBit },
  signal: AbortSignal,
): Promise<void> {
  const atLeast = Math.min(restMs, BETWEEN_WAKES_MS);
  await sleep(atLeast, signal);
  using pause = linkSignal(signal);
  const waits = [sleep(restMs - atLeast, pause.signal), woken.wait(pause.signal)];
  await Promise.race(waits.map((one) => one.catch(() => undefined)));
  pause.abort('one of the two has come');
  await Promise.allSettled(waits);
}
