import { parseQuantity, type Quantity, quantityValue } from '../../api/quantity.ts';

/** The signals a threshold can be set on. `allocatableMemory` is set by the kubelet itself, but not refused. */
export const evictionSignals = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

export type EvictionSignal = (typeof evictionSignals)[number];

export function isEvictionSignal(name: string): name is EvictionSignal {
  return (evictionSignals as readonly string[]).includes(name);
}

/** An amount that must stay free: absolute, or a share (0 to 1) of the capacity. */
export type ThresholdAmount =
  | { readonly kind: 'quantity'; readonly quantity: Quantity }
  | { readonly kind: 'share'; readonly share: number }
  | { readonly kind: 'fault'; readonly fault: string };

/** A threshold: an amount, or `off` for `0%` and `100%`, which disable the signal. */
export type Threshold = ThresholdAmount | { readonly kind: 'off' };

const percentage = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)%+$/;

function readAmount(text: string): ThresholdAmount {
  if (text.endsWith('%')) {
    const match = percentage.exec(text);
    if (match === null) return { kind: 'fault', fault: 'must be a percentage such as 10%' };
    // Single precision, as the reference computes: the absolute threshold must come out the same to the byte.
    return { kind: 'share', share: Math.fround(Math.fround(Number(match[1])) / 100) };
  }
  const quantity = parseQuantity(text);
  if (!quantity.ok) return { kind: 'fault', fault: 'must be a quantity such as 100Mi or a percentage such as 10%' };
  return { kind: 'quantity', quantity: quantity.value };
}

/** The value of `evictionHard` and `evictionSoft`. */
export function parseThreshold(text: string): Threshold {
  if (text === '0%' || text === '100%') return { kind: 'off' };
  const amount = readAmount(text);
  if (amount.kind === 'share' && !(amount.share >= 0 && amount.share <= 1)) {
    return { kind: 'fault', fault: 'must be between 0% and 100%' };
  }
  if (amount.kind === 'quantity' && amount.quantity.nanos <= 0n) {
    return { kind: 'fault', fault: 'must be greater than zero' };
  }
  return amount;
}

/** The value of `evictionMinimumReclaim`. */
export function parseMinimumReclaim(text: string): ThresholdAmount {
  const amount = readAmount(text);
  if (amount.kind === 'share' && !(amount.share > 0)) {
    return { kind: 'fault', fault: 'must be greater than 0%' };
  }
  if (amount.kind === 'quantity' && amount.quantity.nanos < 0n) {
    return { kind: 'fault', fault: 'must not be negative' };
  }
  return amount;
}

/** The bytes (or inodes, or processes) that a threshold stands for on a machine with this capacity; off is 0. */
export function thresholdValue(threshold: Threshold, capacity: bigint): bigint {
  switch (threshold.kind) {
    case 'quantity':
      return quantityValue(threshold.quantity);
    case 'share':
      return BigInt(Math.trunc(Number(capacity) * threshold.share));
    case 'off':
    case 'fault':
      return 0n;
  }
}
