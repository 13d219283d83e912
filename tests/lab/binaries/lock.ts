/** One builder at a time, across processes. */
import { spawn } from 'node:child_process';

export interface LockOptions {
  readonly file: string;
  readonly signal: AbortSignal;
  /** Called once if somebody else holds the lock. */
  readonly onWait: () => void;
}

const MS_UNTIL_WAITING_IS_TOLD = 200;

/**
 * Runs `body` while holding an flock on `file`. The lock lives in a small process whose input is a pipe from us: however we end,
 * the pipe closes, the process ends and the kernel lets the lock go, so there is never a stale lock to judge.
 */
export async function withLock<T>(options: LockOptions, body: () => Promise<T>): Promise<T> {
  options.signal.throwIfAborted();
  const holder = spawn('flock', ['--exclusive', '--no-fork', options.file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // Ctrl-C in a terminal must not take the lock away while we are still tidying up
  });
  let complaint = '';
  holder.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => holder.once('close', () => resolve()));
  const release = async () => {
    holder.stdin.end();
    await ended;
  };
  const waiting = setTimeout(options.onWait, MS_UNTIL_WAITING_IS_TOLD);
  const stopWaiting = () => holder.kill('SIGTERM');
  options.signal.addEventListener('abort', stopWaiting, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      holder.once('error', (error) => reject(new Error(`can't lock ${options.file}: flock(1): ${error.message}`)));
      holder.stdout.once('data', () => resolve());
      holder.once('close', (code) =>
        reject(new Error(`can't lock ${options.file}: flock(1) ended with ${code}: ${complaint.trim()}`)),
      );
    });
  } catch (error) {
    options.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(waiting);
    options.signal.removeEventListener('abort', stopWaiting);
  }
  try {
    options.signal.throwIfAborted();
    return await body();
  } finally {
    await release();
  }
}
