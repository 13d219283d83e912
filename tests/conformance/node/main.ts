/** `make conformance SUITE=node`: SET, FOCUS, SKIP, KUBELET=reference|ours, PROCS, FLAGS, LATER=1, UPDATE=1 (see settings.ts). */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSystemClock } from '../../../src/base/clock.ts';
import { describeError } from '../../../src/base/errors.ts';
import { createProgress } from '../../lab/binaries/progress.ts';
import { makeFolder } from '../run.ts';
import { judge, readNames, renderVerdict } from '../verdict.ts';
import { correctList, missingSpecs } from './list.ts';
import { createNodeSuite } from './run.ts';
import { readNodeSettings } from './settings.ts';

const LIST = join(import.meta.dirname, 'reference-passes.txt');

/** 0: as the reference. 1: a spec that the reference passes failed or did not run. 2: a set could not be run. */
async function main(): Promise<number> {
  const settings = readNodeSettings(process.env);
  const progress = createProgress(process.stderr, createSystemClock());
  const suite = await createNodeSuite({ env: process.env, settings, progress });
  const folder = await makeFolder(process.env, 'conformance-node');
  let code = 0;
  for (const set of settings.sets) {
    const output = join(folder, set.name);
    await mkdir(output, { recursive: true });
    try {
      const results = await suite.run(set, output);
      if (results.length === 0) throw new Error('no spec was run');
      const before = readNames(await readFile(LIST, 'utf8'));
      if (settings.update) await writeFile(LIST, correctList(results, before));
      const list = settings.update ? readNames(await readFile(LIST, 'utf8')) : before;
      const verdict = judge(results, list);
      const missing = missingSpecs(set, results, list);
      process.stdout.write(`\n== ${set.name}: ${renderVerdict(verdict, settings.kubelet)}`);
      if (missing.length > 0) {
        process.stdout.write(`\nNot run, passed by the reference:\n${missing.map((name) => `  ${name}\n`).join('')}`);
      }
      if (verdict.ourFault.length + missing.length > 0) code = Math.max(code, 1);
    } catch (error) {
      process.stdout.write(`\n== ${set.name}: ${describeError(error)}\n`);
      code = 2;
    }
  }
  process.stdout.write(`\nLogs and results: ${folder}\n`);
  return code;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`conformance: ${describeError(error)}`);
  return 2;
});
