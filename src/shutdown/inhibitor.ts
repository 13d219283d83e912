/**
 * Holds the lock by which logind delays a shutdown of the machine, and reports when one begins or is cancelled. Where logind or the bus is
 * away, it tries again.
 */
import type { Clock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { linkSignal } from '../base/signal.ts';
import type { Supervisor } from '../base/supervise.ts';
import { createWakeBit } from '../base/wake.ts';
import type { InhibitLock, Logind } from '../host/dbus/logind.ts';

export interface Inhibitor {
  /** Asks logind once, so that the first pods meet the node as it is; then goes on in the background. */
  start(signal: AbortSignal): Promise<void>;
  /** The pods have ended: the machine may go down. */
  release(): void;
  stop(): Promise<void>;
}

export interface InhibitorDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  readonly logind: Logind;
  /** Writes a file of logind's configuration. */
  writeConfig(text: string): Promise<void>;
  onShutdown(isActive: boolean): void;
}

/** Of the reference. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
const LOOKS_AFTER_RELOAD = 5;
const FIRST_LOOK_MS = 100;
const FIRST_ANSWER_MS = 2_000;

export function createInhibitor(deps: InhibitorDeps, seconds: number): Inhibitor {
  const { clock, log, logind, supervisor } = deps;
  const bit = createWakeBit();
  let lock: InhibitLock | undefined;
  let failures = 0;
  let running: Promise<void> = Promise.resolve();

  const connect = async (signal: AbortSignal): Promise<void> => {
    await ensureDelay(deps, seconds, signal);
    const isPreparing = await logind.isPreparing(signal);
    deps.onShutdown(isPreparing);
    if (isPreparing) return; // no one gets a lock any more
    const before = lock;
    lock = await logind.inhibit(signal);
    before?.release();
  };
  const pass = async (signal: AbortSignal): Promise<void> => {
    try {
      await connect(signal);
      failures = 0;
    } catch (err) {
      if (signal.aborted) throw err;
      failures += 1;
      if (failures === 1) log.error('Unable to watch the node for shutdown events', { err });
    }
  };
  const rest = async (signal: AbortSignal): Promise<void> => {
    using wait = linkSignal(signal);
    const retryMs = Math.min(RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
    const waits = [bit.wait(wait.signal), ...(failures > 0 ? [clock.sleep(retryMs, wait.signal)] : [])];
    await Promise.race(waits.map((one) => one.catch(() => undefined)));
    wait.abort('one of the two has come');
    await Promise.allSettled(waits);
  };
  const unwatch = logind.watch({
    onShutdown: (isActive) => {
      log.v(1)?.info('Shutdown manager detected new shutdown event', { event: isActive ? 'shutdown' : 'cancelled' });
      deps.onShutdown(isActive);
      if (!isActive) bit.wake(); // for another lock
    },
    onLost: (err) => {
      log.v(1)?.info('Restarting watch for node shutdown events', { err });
      failures = Math.max(failures, 1);
      bit.wake();
    },
  });
  return {
    start: async (signal) => {
      const first = Promise.withResolvers<void>();
      const passAndTell = async (own: AbortSignal) => {
        await pass(own).finally(first.resolve);
      };
      running = supervisor.run({ name: 'shutdown inhibitor', pass: passAndTell, rest }, signal);
      await Promise.race([first.promise, clock.sleep(FIRST_ANSWER_MS, signal)]);
    },
    release: () => {
      lock?.release();
      lock = undefined;
    },
    stop: async () => {
      unwatch();
      await running;
      lock?.release();
    },
  };
}

/** logind waits for locks no longer than its own setting allows. */
async function ensureDelay(
  { clock, log, logind, writeConfig }: InhibitorDeps,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  let delayMs = await logind.inhibitDelay(signal);
  if (delayMs >= seconds * 1000) return;
  await writeConfig(`# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${seconds}\n`);
  await logind.reload(signal);
  for (let look = 0; look < LOOKS_AFTER_RELOAD; look += 1) {
    if (look > 0) await clock.sleep(FIRST_LOOK_MS * 2 ** (look - 1), signal);
    try {
      delayMs = await logind.inhibitDelay(signal);
    } catch (error) {
      // A logind that restarts to read its configuration.
      if (codeOf(error) !== 'unavailable') throw error;
    }
    if (delayMs >= seconds * 1000) return;
    log.v(3)?.info('InhibitDelayMaxSec still less than requested, retrying', { current: delayMs, requested: seconds });
  }
  throw new CodedError(
    'unsupported',
    `node shutdown manager was timed out after ${LOOKS_AFTER_RELOAD} attempts waiting for logind InhibitDelayMaxSec to update to ${seconds}s (ShutdownGracePeriod), current value is ${delayMs / 1000}s`,
  );
}
