/** Thresholds of eviction: from the configuration to what must stay free, and whether it does. */
import { formatQuantity, quantityFromUnits, quantityValue } from '../../api/quantity.ts';
import {
  isEvictionSignal,
  parseMinimumReclaim,
  parseThreshold,
  type ThresholdAmount,
} from '../../config/rules/eviction-threshold.ts';
import type { EvictionSignal, MemorySignal, SignalReading, SignalReadings } from '../../model/usage.ts';

export interface Threshold {
  readonly signal: EvictionSignal;
  readonly amount: Exclude<ThresholdAmount, { kind: 'fault' }>;
  /** 0: hard. */
  readonly graceMs: number;
  /** What must be free beyond the threshold before the pressure is over. */
  readonly minimumReclaim: Exclude<ThresholdAmount, { kind: 'fault' }> | undefined;
}

export interface ThresholdSettings {
  readonly hard: Readonly<Record<string, string>>;
  readonly soft: Readonly<Record<string, string>>;
  /** Milliseconds, by signal. */
  readonly softGraceMs: Readonly<Record<string, number>>;
  readonly minimumReclaim: Readonly<Record<string, string>>;
  /** Pods are kept below what is allocatable, so its memory is a signal of its own. */
  readonly enforcesAllocatable: boolean;
}

export interface Thresholds {
  readonly thresholds: readonly Threshold[];
  /** With images apart from writable layers, on which disk `containerfs` is watched by the thresholds of `nodefs`. */
  readonly splitThresholds: readonly Threshold[];
  /** Thresholds of `containerfs`: as in the reference, those of the disk that it is on count instead. */
  readonly ignored: readonly string[];
}

export function computeThresholds(settings: ThresholdSettings): Thresholds {
  const all = readThresholds(settings);
  const isOfContainers = ({ signal }: Threshold) => signal.startsWith('containerfs.');
  const thresholds = all.filter((one) => !isOfContainers(one));
  const copies = thresholds.flatMap((one): readonly Threshold[] => {
    if (one.signal === 'nodefs.available') return [{ ...one, signal: 'containerfs.available' }];
    return one.signal === 'nodefs.inodesFree' ? [{ ...one, signal: 'containerfs.inodesFree' }] : [];
  });
  const ignored = all
    .filter(isOfContainers)
    .map(({ signal, graceMs }) => `found ${signal} for ${graceMs === 0 ? 'hard' : 'soft'} eviction. ignoring`);
  return { thresholds, splitThresholds: [...thresholds, ...copies], ignored };
}

/** Faults were refused with the configuration; here they are left out. */
function readThresholds(settings: ThresholdSettings): readonly Threshold[] {
  const reclaimOf = (signal: EvictionSignal) => {
    const text = settings.minimumReclaim[signal];
    const amount = text === undefined ? undefined : parseMinimumReclaim(text);
    return amount?.kind === 'fault' ? undefined : amount;
  };
  const read = (texts: Readonly<Record<string, string>>, graceMs: (signal: string) => number): readonly Threshold[] =>
    Object.entries(texts).flatMap(([signal, text]) => {
      const amount = parseThreshold(text);
      if (!isEvictionSignal(signal) || amount.kind === 'off' || amount.kind === 'fault') return [];
      return [{ signal, amount, graceMs: graceMs(signal), minimumReclaim: reclaimOf(signal) }];
    });
  const hard = read(settings.hard, () => 0);
  const soft = read(settings.soft, (signal) => settings.softGraceMs[signal] ?? 0);
  const memory = hard.find(({ signal }) => signal === 'memory.available');
  const allocatable: readonly Threshold[] =
    settings.enforcesAllocatable && memory !== undefined ? [{ ...memory, signal: 'allocatableMemory.available' }] : [];
  return [...hard, ...allocatable, ...soft];
}

/** In the unit of the signal. */
export function amountOf(amount: Threshold['amount'], capacity: number): number {
  return amount.kind === 'quantity' ? Number(quantityValue(amount.quantity)) : Math.trunc(capacity * amount.share);
}

/** `withReclaim`: the pressure has been there before, and is over only when the minimum reclaim is free too. */
export function isMet(threshold: Threshold, reading: SignalReading | undefined, withReclaim: boolean): boolean {
  if (reading === undefined) return false;
  const { amount, minimumReclaim } = threshold;
  const more = withReclaim && minimumReclaim !== undefined ? amountOf(minimumReclaim, reading.capacity) : 0;
  return amountOf(amount, reading.capacity) + more > reading.available;
}

/** The use of its cgroup at which memory is as short as the threshold says, with the page cache as it is now. */
export function notifyAt({ amount }: Threshold, reading: SignalReading | undefined): number | undefined {
  if (reading?.usedBytes === undefined) return undefined;
  const { available, capacity, usedBytes } = reading;
  const droppable = Math.max(usedBytes - (capacity - available), 0);
  return capacity - amountOf(amount, capacity) + droppable;
}

export const isMemorySignal = (signal: EvictionSignal): signal is MemorySignal =>
  signal === 'memory.available' || signal === 'allocatableMemory.available';

export const metThresholds = (
  thresholds: readonly Threshold[],
  readings: SignalReadings,
  withReclaim: boolean,
): readonly Threshold[] =>
  thresholds.filter((threshold) => isMet(threshold, readings.get(threshold.signal), withReclaim));

export type PressureKind = 'memory' | 'disk' | 'pid';

export function pressureOf(signal: EvictionSignal): PressureKind {
  if (isMemorySignal(signal)) return 'memory';
  return signal === 'pid.available' ? 'pid' : 'disk';
}

/** The resource that the reference names in events and messages. */
export function resourceOf(signal: EvictionSignal): string {
  switch (pressureOf(signal)) {
    case 'memory':
      return 'memory';
    case 'pid':
      return 'pids';
    case 'disk':
      return signal.endsWith('inodesFree') ? 'inodes' : 'ephemeral-storage';
  }
}

/** As the reference writes amounts: bytes in binary units, counts in decimal ones. */
export function showAmount(signal: EvictionSignal, units: number): string {
  const isBytes = signal.endsWith('.available') && signal !== 'pid.available';
  return formatQuantity(quantityFromUnits(BigInt(Math.trunc(units)), isBytes ? 'binary' : 'decimal'));
}
