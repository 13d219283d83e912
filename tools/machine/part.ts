/** One long-running program of a world: its log is a file, its end is noticed, and it is stopped by its pid. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readSync, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isCode } from './cgroup-trees.ts';

export interface PartExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Part {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the program has ended, for whatever reason. */
  readonly exited: Promise<PartExit>;
  isRunning(): boolean;
  kill(signal: NodeJS.Signals): void;
  /** SIGTERM, and SIGKILL where that does not help in time. */
  stop(graceMs?: number): Promise<PartExit>;
  /** Waits until a line of this start's log matches. Fails at once, with the end of the log, when the program ends before. */
  waitForLog(pattern: RegExp, timeoutMs: number): Promise<string>;
  /** The last lines of the log: what an error message should quote. */
  logTail(lines?: number): string;
}

export interface PartSpec {
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  readonly cwd?: string;
}

const DEFAULT_GRACE_MS = 10_000;
const TAIL_BYTES = 64 * 1024;

export function startPart(spec: PartSpec): Part {
  const [program, ...args] = spec.argv;
  if (program === undefined) throw new Error(`${spec.name}: no program given`);
  mkdirSync(dirname(spec.logFile), { recursive: true });
  const log = openSync(spec.logFile, 'a');
  const logStart = statSync(spec.logFile).size;
  // The log goes straight to the file, so that the program outlives its starter without a broken pipe; a session of its own, so that
  // Ctrl-C in a terminal reaches only the starter, which then ends its parts in order.
  const child = spawn(program, args, {
    stdio: ['ignore', log, log],
    env: spec.env,
    detached: true,
    ...(spec.cwd === undefined ? {} : { cwd: spec.cwd }),
  });
  closeSync(log);
  const { pid } = child;
  // A program that can't be started has no pid; the error event, which must have a listener, says no more than that.
  child.on('error', () => undefined);
  if (pid === undefined) throw new Error(`${spec.name}: can't start ${program}`);
  return new RunningPart({ spec, child, pid, logStart });
}

class RunningPart implements Part {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  readonly exited: Promise<PartExit>;
  readonly #logStart: number;
  #exit: PartExit | undefined;

  constructor(started: { spec: PartSpec; child: ChildProcess; pid: number; logStart: number }) {
    this.name = started.spec.name;
    this.pid = started.pid;
    this.logFile = started.spec.logFile;
    this.#logStart = started.logStart;
    this.exited = new Promise((resolve) => {
      started.child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        resolve(this.#exit);
      });
    });
  }

  isRunning(): boolean {
    return this.#exit === undefined;
  }

  kill(signal: NodeJS.Signals): void {
    if (this.#exit !== undefined) return;
    try {
      process.kill(this.pid, signal);
    } catch (error) {
      if (!isCode(error, 'ESRCH')) throw error;
    }
  }

  async stop(graceMs = DEFAULT_GRACE_MS): Promise<PartExit> {
    this.kill('SIGTERM');
    const timer = new AbortController();
    const late = delay(graceMs, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const);
    if ((await Promise.race([this.exited, late])) === 'late') this.kill('SIGKILL');
    timer.abort();
    return await this.exited;
  }

  async waitForLog(pattern: RegExp, timeoutMs: number): Promise<string> {
    const changes = new AbortController();
    const found = new Promise<string>((resolve) => {
      const look = () => {
        const line = this.#readLog()
          .split('\n')
          .find((text) => pattern.test(text));
        if (line !== undefined) resolve(line);
      };
      watch(this.logFile, { signal: changes.signal }, look);
      look();
    });
    const ended = this.exited.then((exit) => {
      throw new Error(
        `${this.name} ended (${describeExit(exit)}) before ${pattern} was in its log:\n${this.logTail()}`,
      );
    });
    const late = delay(timeoutMs, undefined, { signal: changes.signal }).then(() => {
      throw new Error(`${this.name}: no ${pattern} in its log within ${timeoutMs} ms:\n${this.logTail()}`);
    });
    try {
      return await Promise.race([found, ended, late]);
    } finally {
      changes.abort();
      // The losers of the race must not be heard of again.
      ended.catch(() => undefined);
      late.catch(() => undefined);
    }
  }

  logTail(lines = 15): string {
    const text = this.#readLog().trimEnd();
    return text === '' ? '(its log is empty)' : text.split('\n').slice(-lines).join('\n');
  }

  #readLog(): string {
    const size = statSync(this.logFile).size;
    const from = Math.max(this.#logStart, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - from));
    const file = openSync(this.logFile, 'r');
    try {
      const read = readSync(file, buffer, 0, buffer.length, from);
      return buffer.subarray(0, read).toString('utf8');
    } finally {
      closeSync(file);
    }
  }
}

export function describeExit(exit: PartExit): string {
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}
