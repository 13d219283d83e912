/**
 * Keeps the node able to work: watches what is free, and where too little is, frees what no one needs and then evicts pods, one at a
 * time. See docs/eviction.md.
 *
 *   read signals ──none short──► rest 10 s
 *     └──short──► free dead containers and images ──enough──► rest
 *                    └──not enough──► rank pods, evict the first that may go, wait for its end ──► read signals
 */
import type { Part } from '../base/lifecycle.ts';
import type { Supervisor } from '../base/supervise.ts';
import { type EvictorConfig, type EvictorDeps, evictForLimits, relieve } from './evictor.ts';
import type { EvictionDecision } from './rules/decision.ts';
import { NO_PRESSURE, type PressureConfig, type PressureStep, stepPressure } from './rules/pressure-state.ts';
import type { PressureKind } from './rules/threshold.ts';

export interface Eviction extends Part {
  /** What the node is short of now, as its conditions show it. */
  pressure(): Readonly<Record<PressureKind, boolean>>;
  /** The last decisions, the newest last. */
  decisions(): readonly EvictionDecision[];
}

export interface EvictionDeps extends Omit<EvictorDeps, 'onDecision'> {
  readonly supervisor: Supervisor;
  /** The conditions of the node have changed. */
  onPressure(): void;
  /** For metrics: how old the numbers were that a decision was made on. */
  onStatsAge(signal: string, seconds: number): void;
}

export type EvictionConfig = EvictorConfig & PressureConfig;

/** Of the reference. */
const INTERVAL_MS = 10_000;
const DECISIONS_KEPT = 50;

export function createEviction(deps: EvictionDeps, config: EvictionConfig): Eviction {
  const { clock, usage } = deps;
  const kept: EvictionDecision[] = [];
  const evictor: EvictorDeps = {
    ...deps,
    onDecision: (decision) => {
      kept.push(decision);
      kept.splice(0, kept.length - DECISIONS_KEPT);
    },
  };
  let last: PressureStep = { state: NO_PRESSURE, conditions: new Set(), due: [] };
  let hasEvicted = false;
  let running: Promise<void> = Promise.resolve();

  const pass = async (signal: AbortSignal): Promise<void> => {
    hasEvicted = false;
    const readings = await usage.signals(signal);
    const before = last;
    last = stepPressure(before.state, readings, config, clock.now());
    if (before.conditions.symmetricDifference(last.conditions).size > 0) deps.onPressure();
    hasEvicted = await evictForLimits(evictor, config, signal);
    const [threshold] = last.due;
    if (hasEvicted || threshold === undefined) return;
    for (const { signal: name } of last.due) {
      deps.onStatsAge(name, (clock.now() - (readings.get(name)?.time ?? clock.now())) / 1000);
    }
    hasEvicted = await relieve(evictor, config, { threshold, readings }, signal);
  };

  return {
    name: 'eviction',
    start: (signal) => {
      if (config.thresholds.length === 0 && !config.limitsStorage) return;
      // After an eviction the node is looked at again at once: one pod may not be enough.
      const rest = () => clock.sleep(hasEvicted ? 0 : INTERVAL_MS, signal);
      running = deps.supervisor.run({ name: 'eviction', pass, rest }, signal);
    },
    stop: () => running,
    pressure: () => ({
      memory: last.conditions.has('memory'),
      disk: last.conditions.has('disk'),
      pid: last.conditions.has('pid'),
    }),
    decisions: () => [...kept],
  };
}
