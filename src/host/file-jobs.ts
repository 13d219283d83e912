/**
 * Does file jobs without blocking others: small ones here, a few milliseconds at a time; large ones, and all on mounts that may
 * hang, in processes that are killed when their time is up. A process stays for a moment after its job; when nothing is to do there is none.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setImmediate as afterOthers } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { withDeadline } from '../base/signal.ts';
import { createTurns, type Turns } from '../base/turns.ts';
import type { FileCalls } from './file-calls.ts';
import { errorOf, type FileAnswer, type FileJob, type FileReport, stepsOf } from './file-job.ts';

export interface FileJobLimits {
  /** The job touches a file system that may hang. */
  readonly foreign: boolean;
  readonly signal: AbortSignal;
  readonly deadlineMs?: number;
  /** Files done so far; called now and then for long jobs. */
  readonly onProgress?: (files: number) => void;
}

export interface FileJobs {
  run<Job extends FileJob>(job: Job, limits: FileJobLimits): Promise<FileAnswer<Job>>;
  /** Ends all processes; jobs that wait for one fail. */
  close(): void;
}

export interface FileJobsDeps {
  readonly clock: Clock;
  readonly calls: FileCalls;
  /** How a process that does file jobs is started. Without it all is done here, and a file system that hangs hangs the whole program. */
  readonly program: OwnProgram | undefined;
}

export interface OwnProgram {
  readonly path: string;
  readonly args: readonly string[];
}

const SLICE_MS = 2;
/** What is larger is done in a process. */
const MOST_STEPS_HERE = 3000;
const IDLE_MS = 2000;
const DEADLINE_MS = 120_000;
const OWN_AT_ONCE = 2;
/** Each that hangs holds a process of about 25 MB until its deadline. */
const FOREIGN_AT_ONCE = 16;

/** The job is too large to be done here. */
const TOO_LARGE = Symbol('too large');

export function createFileJobs({ clock, calls, program }: FileJobsDeps): FileJobs {
  const processes = program && createProcesses(clock, program);
  const own = createTurns(OWN_AT_ONCE);
  const foreign = createTurns(FOREIGN_AT_ONCE);

  const here = async (job: FileJob, signal: AbortSignal): Promise<FileAnswer<FileJob> | typeof TOO_LARGE> => {
    const steps = stepsOf(calls, job);
    try {
      let until = clock.mono() + SLICE_MS;
      for (let count = 0; processes === undefined || count < MOST_STEPS_HERE; count += 1) {
        const step = steps.next();
        if (step.done) return step.value;
        if (clock.mono() > until) {
          await afterOthers();
          signal.throwIfAborted();
          until = clock.mono() + SLICE_MS;
        }
      }
      return TOO_LARGE;
    } finally {
      steps.return(null);
    }
  };

  const away = async (job: FileJob, limits: FileJobLimits, turns: Turns): Promise<FileAnswer<FileJob>> => {
    if (processes === undefined) throw new CodedError('internal', `no process can do ${job.kind} ${placeOf(job)}`);
    using _turn = await turns.take([], limits.signal);
    // Removing or changing many files takes its time; only a file system that may hang has to answer soon.
    const deadlineMs = limits.deadlineMs ?? (limits.foreign ? DEADLINE_MS : Number.MAX_SAFE_INTEGER);
    using limit = withDeadline(clock, deadlineMs, `${job.kind} ${placeOf(job)}`, limits.signal);
    return await processes.take().run(job, limit.signal, limits.onProgress);
  };

  return {
    run: async <Job extends FileJob>(job: Job, limits: FileJobLimits) => {
      limits.signal.throwIfAborted();
      const mayHang = limits.foreign && processes !== undefined;
      const done = mayHang ? TOO_LARGE : await here(job, limits.signal);
      const answer = done === TOO_LARGE ? await away(job, limits, limits.foreign ? foreign : own) : done;
      return answer as FileAnswer<Job>;
    },
    close: () => processes?.close(),
  };
}

function placeOf(job: FileJob): string {
  return job.kind === 'bind-sub-path' ? job.volumePath : job.path;
}

interface JobProcess {
  run(job: FileJob, signal: AbortSignal, onProgress?: (files: number) => void): Promise<FileAnswer<FileJob>>;
}

function createProcesses(clock: Clock, program: OwnProgram) {
  const idle: JobProcess[] = [];
  const all = new Set<ChildProcess>();
  const closed = new AbortController();

  const start = (): JobProcess => {
    const child = spawn(program.path, program.args, { stdio: ['pipe', 'pipe', 'ignore'] });
    all.add(child);
    child.on('close', () => all.delete(child));
    child.stdout.setEncoding('utf8');
    // `close` reports its end.
    child.stdin.on('error', () => undefined);
    const one: JobProcess = {
      run: async (job, signal, onProgress) => {
        const answer = await converse(child, job, signal, onProgress);
        keep(one, child);
        if (answer.kind === 'failed') throw errorOf(answer);
        return answer.answer;
      },
    };
    return one;
  };

  const keep = (one: JobProcess, child: ChildProcess): void => {
    const leave = () => {
      const at = idle.indexOf(one);
      if (at >= 0) idle.splice(at, 1);
      if (at >= 0) child.stdin?.end();
    };
    idle.push(one);
    clock.sleep(IDLE_MS, closed.signal).then(leave, leave);
  };

  return {
    take: () => idle.pop() ?? start(),
    close: () => {
      closed.abort('closed');
      for (const child of all) child.kill('SIGKILL');
    },
  };
}

type Ending = Extract<FileReport, { kind: 'done' | 'failed' }>;

/** One job and its answer. If it is cut off, the process is killed: it may hang for good. */
function converse(
  child: ChildProcess,
  job: FileJob,
  signal: AbortSignal,
  onProgress: ((files: number) => void) | undefined,
): Promise<Ending> {
  return new Promise((resolve, reject) => {
    let text = '';
    const settle = (then: () => void) => {
      signal.removeEventListener('abort', onAbort);
      child.stdout?.off('data', onData);
      child.off('error', onError);
      child.off('close', onClose);
      then();
    };
    const onAbort = () => {
      child.kill('SIGKILL');
      settle(() => reject(signal.reason));
    };
    const onError = (cause: Error) =>
      settle(() => reject(new CodedError('unavailable', 'no process for file jobs can be started', { cause })));
    const onClose = (code: number | null, by: NodeJS.Signals | null) =>
      settle(() =>
        reject(new CodedError('unavailable', `the process for file jobs ended (${by ?? code}) during ${job.kind}`)),
      );
    const onData = (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        const report = JSON.parse(text.slice(0, end)) as FileReport;
        text = text.slice(end + 1);
        if (report.kind === 'progress') onProgress?.(report.files);
        else settle(() => resolve(report));
      }
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    child.stdout?.on('data', onData);
    child.on('error', onError);
    child.on('close', onClose);
    child.stdin?.write(`${JSON.stringify(job)}\n`);
  });
}
