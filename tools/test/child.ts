/** Runs a program in the check-out with this terminal as its own. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '..', '..');

/** Its exit code; 1 where a signal ended it. */
export function runChild(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env },
    });
    // Ctrl-C reaches the whole process group; a signal sent to this process alone is passed on, so that worlds are taken down.
    const passOn = (name: NodeJS.Signals) => child.kill(name);
    for (const name of ['SIGTERM', 'SIGHUP'] as const) process.on(name, passOn);
    child.on('error', fail);
    child.on('exit', (code, signal) => {
      for (const name of ['SIGTERM', 'SIGHUP'] as const) process.off(name, passOn);
      done(signal === null ? (code ?? 1) : 1);
    });
  });
}
