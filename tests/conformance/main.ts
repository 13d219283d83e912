/** `make conformance`: FOCUS, SKIP, KUBELET=reference|ours, PROCS, UPDATE=1 (see settings.ts). */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSystemClock } from '../../src/base/clock.ts';
import { describeError } from '../../src/base/errors.ts';
import { createProgress } from '../lab/binaries/progress.ts';
import { lab } from '../lab/lab.ts';
import { runConformance } from './run.ts';
import { readSettings } from './settings.ts';
import { judge, readNames, renderVerdict, writeNames } from './verdict.ts';

const LIST = join(import.meta.dirname, 'reference-passes.txt');

/** 0: nothing is red that the reference passes. 1: something is. 2: there was no run. */
async function main(): Promise<number> {
  const settings = readSettings(process.env);
  const progress = createProgress(process.stderr, createSystemClock());
  const { results, directory } = await runConformance({ lab, env: process.env, settings, progress });
  if (results.length === 0)
    throw new Error(`no spec was run: FOCUS=${settings.focus} SKIP=${settings.skip} choose none`);
  const passed = results.filter((result) => result.passed).map(({ name }) => name);
  if (settings.update) await writeFile(LIST, writeNames(passed));
  const verdict = judge(results, readNames(await readFile(LIST, 'utf8')));
  process.stdout.write(`${renderVerdict(verdict, settings.kubelet)}\nLog and results: ${directory}\n`);
  return verdict.ourFault.length === 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`conformance: ${describeError(error)}`);
  return 2;
});
