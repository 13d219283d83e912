/** Runs an external program and passes on its output while it runs. */

import { type ChildProcess, spawn } from 'node:child_process';
import { kill } from 'node:process';
import { hasErrno } from '../base/errno.ts';
import type { Program } from './program.ts';

/** Both outputs in the order in which they come; resolves when more can be taken. */
export type TakeOutput = (bytes: Buffer) => Promise<void> | void;

/** Its exit code, -1 where a signal ended it. Rejects where it can't be started, or with the reason when the signal aborts. */
export async function streamProgram(
  { path, args, environment }: Omit<Program, 'input'>,
  take: TakeOutput,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted();
  // Its own process group, so that what it starts can be ended with it.
  const child = spawn(path, args, { env: { ...environment }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  const onAbort = () => endGroup(child);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const outputs = [child.stdout, child.stderr].map(async (output) => {
      for await (const bytes of output as AsyncIterable<Buffer>) await take(bytes);
    });
    const [code] = await Promise.all([ended, ...outputs]);
    signal.throwIfAborted();
    return code;
  } catch (error) {
    endGroup(child);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}
