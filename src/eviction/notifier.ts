/** Has the kernel report when memory runs short, so that no one has to look for it. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { SignalReadings } from '../model/usage.ts';
import type { MemoryAlarm, StallAlarm } from './ports.ts';
import { isMemorySignal, notifyAt, type Threshold } from './rules/threshold.ts';

export interface Notifier {
  /** Sets the notifications for what is used now: the page cache that can be dropped is no shortage, and it changes. */
  update(readings: SignalReadings): void;
  close(): void;
}

export interface NotifierDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly alarm: MemoryAlarm;
  onCrossed(): void;
}

/** Of the reference. */
const RENEW_AFTER_MS = 10_000;

export function createNotifier(
  { clock, log, alarm, onCrossed }: NotifierDeps,
  thresholds: readonly Threshold[],
): Notifier {
  const watches = new Map<Threshold, { close(): void }>();
  let renewedAt = Number.NEGATIVE_INFINITY;

  const renew = (threshold: Threshold, readings: SignalReadings): void => {
    const { signal } = threshold;
    const bytes = notifyAt(threshold, readings.get(signal));
    if (!isMemorySignal(signal) || bytes === undefined) return;
    try {
      const next = alarm.watch(signal, bytes, () => {
        log.info('Eviction manager: memory eviction threshold crossed', { signal, isHard: threshold.graceMs === 0 });
        onCrossed();
      });
      watches.get(threshold)?.close();
      watches.set(threshold, next);
    } catch (err) {
      log.info('Eviction manager: failed to update notifier', { signal, err });
    }
  };

  return {
    update: (readings) => {
      if (clock.mono() - renewedAt < RENEW_AFTER_MS) return;
      renewedAt = clock.mono();
      for (const threshold of thresholds) renew(threshold, readings);
    },
    close: () => {
      for (const watch of watches.values()) watch.close();
      watches.clear();
    },
  };
}

/** Where processes wait for memory it is looked at at once: what is available decides, the kernel's notification says when. */
export function watchStalls(
  { log, stalls }: { readonly log: Logger; readonly stalls: StallAlarm },
  onStalled: () => void,
): { close(): void } {
  try {
    const watch = stalls.watchMemory(() => {
      log.v(4)?.info('Eviction manager: processes wait for memory'); // once a second, for as long as they do
      onStalled();
    });
    log.info('Eviction manager: the kernel reports when processes wait for memory');
    return watch;
  } catch (err) {
    log.info('Eviction manager: the kernel does not report when processes wait for memory', { err });
    return { close: () => undefined };
  }
}
