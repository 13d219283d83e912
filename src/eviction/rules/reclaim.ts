/** What can be freed on the node itself before a pod is evicted, and how much of it is enough. */
import type { EvictionSignal, ImageDisk, SignalReadings } from '../../model/usage.ts';
import { amountOf, type Threshold } from './threshold.ts';

export type ReclaimStep = 'large logs' | 'dead containers' | 'unused images';

/**
 * In this order: what is missed least first. Logs, those of dead containers too, are on the node's disk. With images on a disk of their own,
 * writable layers are there with them, or, where the runtime keeps both apart, on a third one.
 */
export function reclaimSteps(signal: EvictionSignal, { isSeparate, isSplit }: ImageDisk): readonly ReclaimStep[] {
  if (!signal.includes('fs.')) return [];
  if (!isSeparate) return ['large logs', 'dead containers', 'unused images'];
  if (signal.startsWith('nodefs')) return ['large logs', 'dead containers'];
  if (!isSplit) return ['dead containers', 'unused images'];
  return signal.startsWith('imagefs') ? ['unused images'] : ['dead containers'];
}

/** Bytes that are missing until the pressure is over; all images where inodes are missing, since no one knows those of an image. */
export function bytesToFree(threshold: Threshold, readings: SignalReadings): number {
  const reading = readings.get(threshold.signal);
  if (reading === undefined || threshold.signal.endsWith('inodesFree')) return Number.POSITIVE_INFINITY;
  const { amount, minimumReclaim } = threshold;
  const more = minimumReclaim === undefined ? 0 : amountOf(minimumReclaim, reading.capacity);
  return Math.max(amountOf(amount, reading.capacity) + more - reading.available, 0) + 1;
}
