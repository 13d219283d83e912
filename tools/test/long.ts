/** `make test-long`: `node tools/test/long.ts [RUN…]`. Goes on after a failure; fails if one run did. */
import { runChild } from './child.ts';
import { chooseRuns, renderResults, runAll } from './long-runs.ts';

const results = await runAll(chooseRuns(process.argv.slice(2)), async ({ target }) => {
  console.log(`\n== make ${target.join(' ')}`);
  const start = performance.now();
  return { code: await runChild('make', target), seconds: (performance.now() - start) / 1000 };
});
process.stdout.write(`\n${renderResults(results)}`);
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1;
