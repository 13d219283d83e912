/** Runs one program to its end, with its output seen line by line while it runs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Command {
  readonly argv: readonly [string, ...string[]];
  /** The whole environment of the program, not additions to ours. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** Ends the program and everything it started (its process group): interrupted first, killed if that does not help. */
  readonly signal?: AbortSignal;
  /** How long an interrupted program may take to end by itself. */
  readonly msUntilKill?: number;
  readonly onLine?: (line: string) => void;
}

export interface CommandOutcome {
  /** 0 is success; 128 + n: ended by signal n; 127: could not be started. */
  readonly code: number;
  readonly stdout: string;
  /** The last lines of both outputs, to show when it failed. */
  readonly lastLines: readonly string[];
}

export type RunCommand = (command: Command) => Promise<CommandOutcome>;

const LINES_KEPT = 30;
const NOT_STARTED = 127;
const SIGNALLED = 128;
const MS_UNTIL_KILL = 5000;

/** A program that fails is an answer (its code), not an exception; only an abort rejects, with the signal's reason. */
export const runCommand: RunCommand = async (command) => {
  command.signal?.throwIfAborted();
  const [program, ...args] = command.argv;
  const child = spawn(program, args, {
    env: { ...command.env },
    cwd: command.cwd,
    detached: true, // its own process group, so that an abort reaches grandchildren too
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = endOf(child);
  // A program that ends without reading its input closes the pipe under us: not worth failing for.
  child.stdin.on('error', () => undefined);
  child.stdin.end(command.stdin ?? '');
  const stdout: string[] = [];
  const lastLines: string[] = [];
  const keep = (line: string) => {
    lastLines.push(line);
    if (lastLines.length > LINES_KEPT) lastLines.shift();
    command.onLine?.(line);
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    stdout.push(line);
    keep(line);
  });
  createInterface({ input: child.stderr }).on('line', keep);
  const stopKilling = killOnAbort(child, command);
  const { code, failure } = await ended.finally(stopKilling);
  command.signal?.throwIfAborted();
  if (failure !== undefined) lastLines.push(failure);
  return { code, stdout: stdout.join('\n'), lastLines };
};

function endOf(child: ChildProcess): Promise<{ code: number; failure?: string }> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: NOT_STARTED, failure: error.message }));
    child.once('close', (code, signal) => {
      resolve({ code: code ?? SIGNALLED + signalNumber(signal) });
    });
  });
}

function signalNumber(signal: NodeJS.Signals | null): number {
  const known: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 };
  return (signal === null ? undefined : known[signal]) ?? 0;
}

function killOnAbort(child: ChildProcess, { signal, msUntilKill = MS_UNTIL_KILL }: Command): () => void {
  let killer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    signalGroup(child.pid, 'SIGINT');
    killer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), msUntilKill);
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  return () => {
    clearTimeout(killer);
    signal?.removeEventListener('abort', onAbort);
  };
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    // ESRCH: the group ended by itself in the meantime, as intended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
