/** The ports to this Linux machine that a whole kubelet shares: opened once, passed to the parts that need them. */
import { geteuid } from 'node:process';
import { diskBytes, processLimit } from './capacity.ts';
import { readCgroupMounts } from './cgroup-mounts.ts';
import { createCgroups } from './cgroups.ts';
import { createBus } from './dbus/bus.ts';
import { createOpenStream } from './dbus/stream.ts';
import { filesUse, readDiskSpace, readFileSystem } from './disk.ts';
import { createReadiness } from './event-loop.ts';
import { createFileCalls } from './file-calls.ts';
import { createFileJobs } from './file-jobs.ts';
import { leadsToForeign } from './foreign-path.ts';
import { createGuardedFiles } from './guarded-files.ts';
import { hostName } from './identity.ts';
import { createInotify } from './inotify.ts';
import { createKernelFiles } from './kernel-files.ts';
import { followKernelLog } from './kernel-log.ts';
import { readKernelSetting, writeKernelSetting } from './kernel-settings.ts';
import { acquireFileLock } from './lock-file.ts';
import { appArmorEnabled, cgroupVersion, setOwnOomScore, swapAreas } from './machine.ts';
import { readMachine } from './machine-info.ts';
import { createMemoryEvents } from './memory-events.ts';
import { readMountTable } from './mount-table.ts';
import { createInterfaceReader, listDefaultRoutes, resolveName } from './network.ts';
import { raiseOpenFiles } from './open-files.ts';
import { createOutput, type Output, type OutputDeps } from './output.ts';
import { readOwnProcess } from './own-process.ts';
import { createPacketFilter } from './packet-filter.ts';
import { readPageFile } from './page-files.ts';
import type { Host } from './ports.ts';
import { createProcesses, isKernelThread, ownPid } from './processes.ts';
import { releaseProgramPages } from './program-pages.ts';
import { readRuntimeFacts } from './runtime-facts.ts';
import { notifyServiceManager, readWatchdog } from './service-manager.ts';
import { createStallEvents } from './stall-events.ts';
import { createSyscalls } from './syscalls.ts';
import { readTextFile } from './text-file.ts';

/** Where D-Bus and systemd listen on every distribution; systemd alone, for root, on a machine without a bus. */
const SYSTEM_BUS = { path: '/run/dbus/system_bus_socket', isBus: true };
const SYSTEMD = { path: '/run/systemd/private', isBus: false };

/** What else the command needs: its standard streams, and systemd, which waits for it. */
export interface LinuxHost extends Host {
  /** Sends systemd a state such as `READY=1`, where `socket` (its NOTIFY_SOCKET) is set. */
  notifyServiceManager(socket: string | undefined, state: string): void;
  readWatchdog: typeof readWatchdog;
  openOutput(fd: number, deps: Pick<OutputDeps, 'clock' | 'onLoss'>): Output;
  /** A file of the page, which lies beside the program. */
  pageFile: typeof readPageFile;
}

export function createHost(): LinuxHost {
  const syscalls = createSyscalls();
  const readiness = createReadiness();
  const inotify = createInotify(syscalls, readiness);
  const calls = createFileCalls();
  return {
    files: {
      inotify,
      guarded: createGuardedFiles(calls),
      jobs: (deps) => createFileJobs({ ...deps, calls }),
      readText: readTextFile,
      space: readDiskSpace,
      size: readFileSystem,
      use: filesUse,
    },
    mounts: {
      mount: calls.mount,
      unmount: calls.unmount,
      table: readMountTable,
      leadsToForeign: (path) => leadsToForeign(readMountTable(), path),
    },
    cgroups: {
      version: () => cgroupVersion(),
      hierarchies: readCgroupMounts,
      tree: () => createCgroups(readCgroupMounts()),
      files: createKernelFiles,
      memoryEvents: createMemoryEvents(syscalls, readiness),
      stallEvents: createStallEvents(readiness),
    },
    processes: { ...createProcesses(), isKernelThread: (pid) => isKernelThread(pid) },
    kernel: {
      followLog: (listener) => followKernelLog(readiness, listener),
      readSetting: (name) => readKernelSetting(name),
      writeSetting: (name, value) => writeKernelSetting(name, value),
    },
    openBus: (clock, others) =>
      createBus(
        { clock, open: createOpenStream(syscalls, readiness), uid: geteuid?.() ?? 0 },
        others === undefined ? [SYSTEM_BUS, SYSTEMD] : [SYSTEM_BUS],
      ),
    network: {
      hostName,
      interfaces: (mono) => createInterfaceReader(mono),
      defaultRoutes: () => listDefaultRoutes(),
      resolve: resolveName,
      packetFilter: (deps) => createPacketFilter(deps, { syscalls, readiness }),
    },
    machine: {
      read: readMachine,
      appArmorEnabled: () => appArmorEnabled(),
      runtimeFacts: readRuntimeFacts,
      swapAreas: () => swapAreas(),
    },
    capacity: {
      processLimit: () => processLimit(),
      diskBytes,
    },
    own: {
      pid: ownPid(),
      usage: () => readOwnProcess(),
      raiseOpenFiles: (request) => raiseOpenFiles(syscalls, request),
      setOomScore: (score) => setOwnOomScore(score),
      giveBackMemory: syscalls.giveBackMemory,
      releaseProgramPages: () => releaseProgramPages(({ start, bytes }) => syscalls.releasePages(start, bytes)),
      acquireFileLock: (path, clock, signal, onWait) =>
        acquireFileLock(path, { syscalls, inotify, clock }, signal, onWait),
    },
    readWatchdog,
    pageFile: readPageFile,
    notifyServiceManager: (socket, state) => notifyServiceManager(syscalls, socket, state),
    openOutput: (fd, deps) => createOutput(fd, { syscalls, readiness, ...deps }),
  };
}
