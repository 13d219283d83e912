/** Runs an external program: input in, output back. It is killed with all that it started when its time is up. */

import { type ChildProcess, spawn } from 'node:child_process';
import { kill } from 'node:process';
import type { Clock } from '../base/clock.ts';
import { hasErrno } from '../base/errno.ts';
import { CodedError } from '../base/errors.ts';
import { withDeadline } from '../base/signal.ts';

export interface Program {
  readonly path: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input: string;
}

export interface RunLimits {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** Its standard output. Rejects where it fails, with what it wrote to standard error. */
export type RunProgram = (program: Program, limits: RunLimits) => Promise<string>;

const MOST_OUTPUT_BYTES = 1024 * 1024;
/** Of what a failed program wrote to standard error. */
const MOST_COMPLAINT = 2_000;

export const runProgram: RunProgram = async (program, { clock, deadlineMs, signal }) => {
  using limit = withDeadline(clock, deadlineMs, program.path, signal);
  const child = spawn(program.path, program.args, {
    env: { ...program.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    // Its own process group, so that what it starts can be ended with it.
    detached: true,
  });
  return await follow(child, program, limit.signal);
};

function follow(child: ChildProcess, { path, input }: Program, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const output = collect(child.stdout, () => fail(new CodedError('exhausted', `${path}: it writes too much`)));
    const complaint = collect(child.stderr, () => undefined);
    const fail = (error: unknown) => {
      endGroup(child);
      reject(error);
    };
    const onAbort = () => fail(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    const done = () => signal.removeEventListener('abort', onAbort);
    child.on('error', (cause) => {
      done();
      reject(new CodedError('unavailable', `${path} can't be run`, { cause }));
    });
    child.on('close', (code, killedBy) => {
      done();
      if (code === 0) resolve(output());
      else {
        const how = code === null ? `was ended by ${killedBy}` : `ended with code ${code}`;
        reject(new CodedError('internal', `${path} ${how}: ${complaint().slice(0, MOST_COMPLAINT).trim()}`));
      }
    });
    // A program that reads no input ends the pipe early: its exit code says what matters.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

function collect(stream: ChildProcess['stdout'], onTooMuch: () => void): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MOST_OUTPUT_BYTES) chunks.push(chunk);
    else onTooMuch();
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}
