/** What can be freed on the node itself before a pod is evicted, and how much of it is enough. */
import type { EvictionSignal, ImageDisk, SignalReadings } from '../../model/usage.ts';
import { amountOf, type Threshold } from './threshold.ts';

export type ReclaimStep = 'dead containers' | 'unused images';

/**
 * In this order. With images on a disk of their own, the writable layers of dead containers are there too; their logs are on the node's
 * disk, so that dead containers are worth removing for both.
 */
export function reclaimSteps(signal: EvictionSignal, { isSeparate }: ImageDisk): readonly ReclaimStep[] {
  if (!signal.includes('fs.')) return [];
  if (isSeparate && signal.startsWith('nodefs')) return ['dead containers'];
  return ['dead containers', 'unused images'];
}

/** Bytes that are missing until the pressure is over; all images where inodes are missing, since no one knows those of an image. */
export function bytesToFree(threshold: Threshold, readings: SignalReadings): number {
  const reading = readings.get(threshold.signal);
  if (reading === undefined || threshold.signal.endsWith('inodesFree')) return Number.POSITIVE_INFINITY;
  const { amount, minimumReclaim } = threshold;
  const more = minimumReclaim === undefined ? 0 : amountOf(minimumReclaim, reading.capacity);
  return Math.max(amountOf(amount, reading.capacity) + more - reading.available, 0) + 1;
}
