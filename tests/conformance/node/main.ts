/** `make conformance SUITE=node`: SET, FOCUS, SKIP, KUBELET=reference|ours, PROCS, FLAGS, LATER=1, UPDATE=1 (see settings.ts). */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSystemClock } from '../../../src/base/clock.ts';
import { describeError } from '../../../src/base/errors.ts';
import { createProgress } from '../../lab/binaries/progress.ts';
import { makeDirectory } from '../run.ts';
import { judge, readNames, renderVerdict, type SpecResult } from '../verdict.ts';
import { correctList, missingSpecs } from './list.ts';
import { MEANT, sortFailures } from './meant.ts';
import { createNodeSuite } from './run.ts';
import { type NodeSettings, readNodeSettings } from './settings.ts';

const LIST = join(import.meta.dirname, 'reference-passes.txt');

/** 0: as the reference. 1: a spec that the reference passes failed or did not run. 2: a set could not be run. */
async function main(): Promise<number> {
  const settings = readNodeSettings(process.env);
  const progress = createProgress(process.stderr, createSystemClock());
  const suite = await createNodeSuite({ env: process.env, settings, progress });
  const directory = await makeDirectory(process.env, 'conformance-node');
  let code = 0;
  for (const set of settings.sets) {
    const output = join(directory, set.name);
    await mkdir(output, { recursive: true });
    try {
      const results = await suite.run(set, output);
      if (results.length === 0) throw new Error('no spec was run');
      const before = readNames(await readFile(LIST, 'utf8'));
      if (settings.update) await writeFile(LIST, correctList(results, before));
      const list = settings.update ? readNames(await readFile(LIST, 'utf8')) : before;
      process.stdout.write(`\n== ${set.name}: `);
      if (!report(settings.kubelet, results, list, missingSpecs(set, results, list))) code = Math.max(code, 1);
    } catch (error) {
      process.stdout.write(`\n== ${set.name}: ${describeError(error)}\n`);
      code = 2;
    }
  }
  process.stdout.write(`\nLogs and results: ${directory}\n`);
  return code;
}

/** Prints what a set showed. Answers whether it was as the reference. */
function report(
  kubelet: NodeSettings['kubelet'],
  results: readonly SpecResult[],
  list: ReadonlySet<string>,
  missing: readonly string[],
): boolean {
  const verdict = judge(results, list);
  const ours = kubelet === 'ours';
  const { faults, meant, outdated } = sortFailures(verdict.ourFault, verdict.passed, ours ? MEANT : []);
  process.stdout.write(renderVerdict({ ...verdict, ourFault: faults }, kubelet));
  tell(
    'Failed here, as it is meant:',
    meant.map(({ spec, reason }) => `${spec}\n      ${reason}`),
  );
  tell(
    'Listed as meant to fail, but passed:',
    outdated.map(({ spec }) => spec),
  );
  tell('Not run, passed by the reference:', missing);
  return faults.length + outdated.length + missing.length === 0;
}

function tell(title: string, lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`);
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`conformance: ${describeError(error)}`);
  return 2;
});
