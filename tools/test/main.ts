/** Runs test suites, stage after stage, and goes on after a failure: `node tools/test/main.ts [SUITE…]`. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runChild } from './child.ts';
import { chooseSuites, type Suite, stagesOf } from './suites.ts';

interface Result {
  readonly name: string;
  readonly outcome: 'passed' | 'FAILED' | 'empty';
  readonly seconds: number;
}

/** Test files load the same hundreds of sources: kept compiled, a file starts in two thirds of the time. */
const COMPILED = join(ROOT, 'node_modules', '.cache', 'compiled-tests');

const runNode = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> =>
  runChild(process.execPath, args, env);

async function runSuite(suite: Suite): Promise<Result> {
  const excluded = [...(suite.except ?? [])];
  const files = suite.files.flatMap((pattern) => globSync(pattern, { cwd: ROOT, exclude: excluded })).sort();
  if (files.length === 0) return { name: suite.name, outcome: 'empty', seconds: 0 };
  console.log(`\n== ${suite.name}: ${suite.about} (${files.length} files)`);
  const start = performance.now();
  const args = [
    '--disable-warning=ExperimentalWarning',
    '--test',
    '--test-reporter=./tools/test/reporter.ts',
    `--test-timeout=${suite.timeoutSeconds * 1000}`,
    `--test-concurrency=${suite.atOnce}`,
    ...files,
  ];
  const code = await runNode(args, suite.keepCompiled === true ? { NODE_COMPILE_CACHE: COMPILED } : {});
  return { name: suite.name, outcome: code === 0 ? 'passed' : 'FAILED', seconds: (performance.now() - start) / 1000 };
}

async function main(names: readonly string[]): Promise<number> {
  const results: Result[] = [];
  for (const stage of stagesOf(chooseSuites(names))) results.push(...(await Promise.all(stage.map(runSuite))));
  // The lab's promise: a world goes without a trace, also where its test failed.
  const clean = (await runNode(['tests/lab/leftovers-main.ts'])) === 0;
  console.log('');
  for (const { name, outcome, seconds } of results) {
    console.log(`${name.padEnd(8)} ${outcome === 'empty' ? 'no test yet' : `${outcome} in ${seconds.toFixed(0)} s`}`);
  }
  return clean && results.every((result) => result.outcome !== 'FAILED') ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
