/** The processes of this machine as /proc shows them: who belongs to a container, and ending one that is really the one meant. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
// Signals go through the one function of `process` that sends them.
import { pid, kill as sendSignal } from 'node:process';
import { hasErrno } from '../base/errno.ts';

export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  /** The pid of the process that began the session, which may be gone by now. */
  readonly session: number;
  /** Since boot, milliseconds. With the pid it names one process for ever. */
  readonly startedAt: number;
}

export interface Processes {
  /** Those whose cgroup has this in its path: the id of a container, for example. */
  inCgroup(part: string): readonly ProcessFacts[];
  /** Since boot, milliseconds: the clock of `startedAt`. */
  uptime(): number;
  /** Program and arguments; undefined for one that is gone. */
  commandOf(pid: number): readonly string[] | undefined;
  /** Kills it if it is still that process. */
  kill(process: ProcessFacts): void;
}

/** USER_HZ: the unit of times in /proc, the same on every Linux that Node runs on. */
const MS_PER_TICK = 10;

export function createProcesses(proc = '/proc'): Processes {
  const factsOf = (pid: number): ProcessFacts | undefined => {
    const text = readText(`${proc}/${pid}/stat`);
    return text === undefined ? undefined : parseStat(text);
  };
  return {
    inCgroup: (part) => {
      const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
      return pids.flatMap((name) => {
        if (!readText(`${proc}/${name}/cgroup`)?.includes(part)) return [];
        return factsOf(Number(name)) ?? [];
      });
    },
    uptime: () => Number.parseFloat(readText(`${proc}/uptime`) ?? '0') * 1000,
    commandOf: (pid) => readText(`${proc}/${pid}/cmdline`)?.split('\0').slice(0, -1),
    kill: ({ pid, startedAt }) => {
      if (factsOf(pid)?.startedAt !== startedAt) return;
      try {
        sendSignal(pid, 'SIGKILL');
      } catch (error) {
        // It ended by itself meanwhile.
        if (!isGone(error)) throw error;
      }
    },
  };
}

export function ownPid(): number {
  return pid;
}

/** Threads of the kernel run no program. False for a process that has ended. */
export function isKernelThread(id: number, proc = '/proc'): boolean {
  try {
    readlinkSync(`${proc}/${id}/exe`);
    return false;
  } catch (error) {
    if (!isGone(error)) throw error;
    return readText(`${proc}/${id}/stat`) !== undefined;
  }
}

/** Undefined for a text that is not a process's. */
export function parseStat(text: string): ProcessFacts | undefined {
  // The name stands in parentheses and may hold anything, parentheses too.
  const rest = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [pid, parent, session, ticks] = [text.slice(0, text.indexOf(' ')), rest[1], rest[3], rest[19]].map(Number);
  if (pid === undefined || parent === undefined || session === undefined || ticks === undefined) return undefined;
  if ([pid, parent, session, ticks].some(Number.isNaN)) return undefined;
  return { pid, parent, session, startedAt: ticks * MS_PER_TICK };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    // Processes come and go while one looks.
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return hasErrno(error, 'ENOENT', 'ESRCH');
}
