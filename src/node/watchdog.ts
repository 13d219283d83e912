/** Notifies systemd's watchdog while the kubelet is healthy. A kubelet that hangs, or stays unhealthy, is killed and started again by systemd. */
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Part } from '../base/lifecycle.ts';
import type { Logger } from '../base/logger.ts';
import type { Supervisor } from '../base/supervise.ts';
import type { Watchdog } from '../host/service-manager.ts';

export interface WatchdogDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  /** The checks of the health page. */
  checks(): readonly WatchedCheck[];
  /** Sends systemd a state. */
  notify(state: string): void;
}

export interface WatchedCheck {
  readonly name: string;
  /** Undefined while healthy, else the reason why not. */
  check(signal: AbortSignal): Promise<string | undefined> | string | undefined;
}

/** Those of the reference: what a new process may mend. A container runtime that is away is not among it. */
const WATCHED: ReadonlySet<string> = new Set(['ping', 'log', 'syncloop']);

/** None where systemd's watchdog is off. Refuses to start with one that can't be kept, as the reference does. */
export function watchdogParts(
  deps: Omit<WatchdogDeps, 'notify'>,
  manager: { readonly watchdog: Watchdog; notify(state: string): void } | undefined,
): readonly Part[] {
  if (manager === undefined || manager.watchdog.kind === 'off') return [];
  if (manager.watchdog.kind === 'on') {
    return [createWatchdog({ ...deps, notify: manager.notify }, manager.watchdog.timeoutMs)];
  }
  throw new CodedError('invalid', manager.watchdog.problem);
}

/** `timeoutMs`: after so long without a notification systemd acts. Half of it leaves time for one that is late. */
export function createWatchdog(deps: WatchdogDeps, timeoutMs: number): Part {
  const { clock, log } = deps;
  const interval = timeoutMs / 2;
  const pass = async (signal: AbortSignal) => {
    for (const { name, check } of deps.checks().filter((one) => WATCHED.has(one.name))) {
      const reason = await check(signal);
      if (reason === undefined) continue;
      log.error('Do not notify watchdog this iteration as the kubelet is reportedly not healthy', {
        check: name,
        reason,
      });
      return;
    }
    deps.notify('WATCHDOG=1');
  };
  return {
    name: 'systemd watchdog',
    start: (signal) => {
      log.info('Starting systemd watchdog with interval', { interval: `${interval / 1000}s` });
      void deps.supervisor.run(
        { name: 'systemd watchdog', pass, rest: (until) => clock.sleep(interval, until) },
        signal,
      );
    },
  };
}
