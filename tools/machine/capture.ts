/** Runs a short program to its end and gives back its two outputs apart, byte for byte (command.ts: long ones, seen line by line). */
import { spawn } from 'node:child_process';

export interface Captured {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CaptureOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** The exit code is part of the answer; only a program that can't be started at all is an error. */
export function capture(argv: readonly string[], options: CaptureOptions = {}): Promise<Captured> {
  const [program, ...args] = argv;
  if (program === undefined) return Promise.reject(new Error('no program given'));
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      detached: true, // Ctrl-C in a terminal is for us to act on, in order
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', (error) => reject(new Error(`can't run ${program}: ${error.message}`, { cause: error })));
    child.on('close', (code, signalName) =>
      resolve({
        code: code ?? 128 + (signalName === 'SIGKILL' ? 9 : 15),
        stdout: Buffer.concat(out).toString('utf8'),
        stderr: Buffer.concat(err).toString('utf8'),
      }),
    );
    if (options.input !== undefined && child.stdin !== null) {
      // A program may exit without reading its input; its exit code shows how it went.
      child.stdin.on('error', () => undefined);
      child.stdin.end(options.input);
    }
  });
}

/** Like `capture`, but an exit code other than zero is an error that quotes the program's own words. */
export async function captureOk(argv: readonly string[], options: CaptureOptions = {}): Promise<Captured> {
  const result = await capture(argv, options);
  if (result.code !== 0) {
    const words = result.stderr.trim() || result.stdout.trim() || 'no output';
    throw new Error(`${argv.join(' ')}: exit code ${result.code}: ${words}`);
  }
  return result;
}
