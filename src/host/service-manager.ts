/** Reports the state of the service to systemd (`Type=notify` units wait for it). */
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
