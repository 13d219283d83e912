/** Reports the state of the service to systemd (`Type=notify` units wait for it), and reads what its watchdog expects. */
import type { Syscalls } from './syscalls.ts';

/** `NOTIFY_SOCKET` as systemd sets it: a path, or a name without a file that begins with `@`. Nothing happens where it is not set. */
export function notifyServiceManager(
  syscalls: Pick<Syscalls, 'sendDatagram'>,
  socket: string | undefined,
  state: string,
): void {
  if (socket === undefined || socket === '') return;
  const name = socket.startsWith('@') ? `\0${socket.slice(1)}` : socket;
  syscalls.sendDatagram(name, Buffer.from(state));
}

/** As short a period would only be missed. */
const SHORTEST_WATCHDOG_MS = 1_000;

/** What systemd's watchdog expects: nothing, a notification within a time, or something that can't be kept. */
export type Watchdog =
  | { readonly kind: 'off' }
  | { readonly kind: 'on'; readonly timeoutMs: number }
  | { readonly kind: 'invalid'; readonly problem: string };

/** `WATCHDOG_USEC` and `WATCHDOG_PID` as systemd sets them: they are for one process, and its children inherit them. */
export function readWatchdog(environment: Readonly<Record<string, string | undefined>>, pid: number): Watchdog {
  const { WATCHDOG_USEC: period = '', WATCHDOG_PID: owner = '' } = environment;
  if (period === '' || (owner !== '' && owner !== String(pid))) return { kind: 'off' };
  const timeoutMs = /^\d{1,15}$/.test(period) ? Number(period) / 1000 : 0;
  if (timeoutMs === 0)
    return { kind: 'invalid', problem: `configure watchdog: WATCHDOG_USEC is ${JSON.stringify(period)}` };
  if (timeoutMs > SHORTEST_WATCHDOG_MS) return { kind: 'on', timeoutMs };
  return { kind: 'invalid', problem: `configure watchdog timeout too small: ${timeoutMs} ms` };
}
