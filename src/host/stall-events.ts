/**
 * Notifications of the kernel that processes wait for memory (pressure stall information): the file is opened for writing, told how long a wait
 * counts, and has urgent data whenever there was one. Needs `psi=1` where that is not the kernel's default, and root.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Readiness } from './event-loop.ts';

export interface StallEvents {
  /** Calls `listener` at most once a second while processes wait. Throws where the kernel does not measure it. */
  watchMemory(listener: () => void): { close(): void };
}

/** Of the whole machine: a process that waits because its cgroup is at its limit counts, too. */
const FILE = '/proc/pressure/memory';
/** Some process waited for a tenth of a second, of one second (in microseconds). */
const TRIGGER = 'some 100000 1000000';

export function createStallEvents(readiness: Readiness, file = FILE): StallEvents {
  return {
    watchMemory: (listener) => {
      const fd = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
      try {
        writeSync(fd, `${TRIGGER}\0`);
        const wait = readiness.watch(fd, 'urgent', listener);
        return {
          close: () => {
            wait.close();
            closeSync(fd);
          },
        };
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    },
  };
}
