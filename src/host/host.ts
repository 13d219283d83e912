/** The doors to this Linux machine that a whole kubelet shares: opened once, passed to the parts that need them. */
import { geteuid } from 'node:process';
import type { Clock } from '../base/clock.ts';
import { type Bus, createBus } from './dbus/bus.ts';
import { createOpenStream } from './dbus/stream.ts';
import { createReadiness } from './event-loop.ts';
import { createFileCalls } from './file-calls.ts';
import { createGuardedFiles, type GuardedFiles } from './guarded-files.ts';
import { createInotify, type Inotify } from './inotify.ts';
import { followKernelLog, type KernelLogListener } from './kernel-log.ts';
import { acquireFileLock, type FileLock } from './lock-file.ts';
import { setOwnOomScore, swapAreas } from './machine.ts';
import { type OpenFilesOutcome, raiseOpenFiles } from './open-files.ts';
import { createOutput, type Output, type OutputDeps } from './output.ts';
import { releaseProgramPages } from './program-pages.ts';
import { notifyServiceManager } from './service-manager.ts';
import { createSyscalls } from './syscalls.ts';

/** Where D-Bus and systemd listen on every distribution; systemd alone, for root, on a machine without a bus. */
const SYSTEM_BUS = [
  { path: '/run/dbus/system_bus_socket', isBus: true },
  { path: '/run/systemd/private', isBus: false },
];

export interface Host {
  readonly inotify: Inotify;
  /** Opens what containers can write. */
  readonly files: GuardedFiles;
  /** Throws where this process may not read the kernel's log. */
  followKernelLog(listener: KernelLogListener): { close(): void };
  swapAreas(): readonly string[];
  raiseOpenFiles(request: bigint): OpenFilesOutcome;
  setOwnOomScore(score: number): string | undefined;
  /** Lets the system have the memory that this process has freed. */
  giveBackMemory(): void;
  /** Unmaps what is resident of the program's own files; what is needed again comes back from the page cache. */
  releaseProgramPages(): Promise<void>;
  acquireFileLock(path: string, clock: Clock, signal: AbortSignal, onWait: () => void): Promise<FileLock>;
  /** Tells systemd a state such as `READY=1`, where `socket` (its NOTIFY_SOCKET) is set. */
  notifyServiceManager(socket: string | undefined, state: string): void;
  /** The system bus. Nothing is connected before the first call. */
  openBus(clock: Clock): Bus;
  openOutput(fd: number, deps: Pick<OutputDeps, 'clock' | 'onLoss'>): Output;
}

export function createHost(): Host {
  const syscalls = createSyscalls();
  const readiness = createReadiness();
  const inotify = createInotify(syscalls, readiness);
  return {
    inotify,
    files: createGuardedFiles(createFileCalls()),
    followKernelLog: (listener) => followKernelLog(readiness, listener),
    swapAreas: () => swapAreas(),
    raiseOpenFiles: (request) => raiseOpenFiles(syscalls, request),
    setOwnOomScore: (score) => setOwnOomScore(score),
    giveBackMemory: syscalls.giveBackMemory,
    releaseProgramPages: () => releaseProgramPages(({ start, bytes }) => syscalls.releasePages(start, bytes)),
    acquireFileLock: (path, clock, signal, onWait) =>
      acquireFileLock(path, { syscalls, inotify, clock }, signal, onWait),
    notifyServiceManager: (socket, state) => notifyServiceManager(syscalls, socket, state),
    openBus: (clock) =>
      createBus({ clock, open: createOpenStream(syscalls, readiness), uid: geteuid?.() ?? 0 }, SYSTEM_BUS),
    openOutput: (fd, deps) => createOutput(fd, { syscalls, readiness, ...deps }),
  };
}
