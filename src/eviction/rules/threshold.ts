/** Thresholds of eviction: from the configuration to what must stay free, and whether it does. */
import { formatQuantity, quantityFromUnits, quantityValue } from '../../api/quantity.ts';
import {
  isEvictionSignal,
  parseMinimumReclaim,
  parseThreshold,
  type ThresholdAmount,
} from '../../config/rules/eviction-threshold.ts';
import type { EvictionSignal, SignalReading, SignalReadings } from '../../model/usage.ts';

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

/** Faults were refused with the configuration; here they are left out. */
export function computeThresholds(settings: ThresholdSettings): readonly Threshold[] {
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

export const metThresholds = (
  thresholds: readonly Threshold[],
  readings: SignalReadings,
  withReclaim: boolean,
): readonly Threshold[] =>
  thresholds.filter((threshold) => isMet(threshold, readings.get(threshold.signal), withReclaim));

export type PressureKind = 'memory' | 'disk' | 'pid';

export function pressureOf(signal: EvictionSignal): PressureKind {
  switch (signal) {
    case 'memory.available':
    case 'allocatableMemory.available':
      return 'memory';
    case 'pid.available':
      return 'pid';
    default:
      return 'disk';
  }
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
