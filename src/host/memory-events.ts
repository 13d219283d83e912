/**
 * Notifications of the kernel about the memory of a cgroup: an event descriptor that becomes readable when the use of the cgroup goes over a
 * threshold, or back below it. Only the first generation of cgroups has them.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { hasErrno } from '../base/errno.ts';
import type { Readiness } from './event-loop.ts';
import type { Syscalls } from './syscalls.ts';

export interface MemoryEvents {
  /** Calls `listener` after each crossing. Throws where the cgroup is missing or the kernel has no such notifications. */
  watch(cgroupDirectory: string, bytes: number, listener: () => void): { close(): void };
}

const EVENT_BYTES = 8;

export function createMemoryEvents(syscalls: Pick<Syscalls, 'eventDescriptor'>, readiness: Readiness): MemoryEvents {
  return {
    watch: (directory, bytes, listener) => {
      const event = syscalls.eventDescriptor();
      try {
        register(directory, event, bytes);
      } catch (error) {
        closeSync(event);
        throw error;
      }
      const buffer = Buffer.allocUnsafe(EVENT_BYTES);
      const wait = readiness.watch(event, 'readable', () => {
        if (readEvent(event, buffer)) listener();
      });
      return {
        close: () => {
          wait.close();
          closeSync(event);
        },
      };
    },
  };
}

/** The kernel keeps what it needs: both files can be closed afterwards. */
function register(directory: string, event: number, bytes: number): void {
  const usage = openSync(join(directory, 'memory.usage_in_bytes'), 'r');
  try {
    const control = openSync(join(directory, 'cgroup.event_control'), 'w');
    try {
      writeSync(control, `${event} ${usage} ${Math.max(Math.trunc(bytes), 0)}`);
    } finally {
      closeSync(control);
    }
  } finally {
    closeSync(usage);
  }
}

function readEvent(fd: number, buffer: Buffer): boolean {
  try {
    return readSync(fd, buffer) === EVENT_BYTES;
  } catch (error) {
    if (hasErrno(error, 'EAGAIN')) return false; // read before
    throw error;
  }
}
