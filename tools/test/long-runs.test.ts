import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './child.ts';
import { chooseRuns, LONG_RUNS, renderResults, runAll } from './long-runs.ts';

test('a run that fails keeps none of the others from running, and shows at the end', async () => {
  const results = await runAll(LONG_RUNS, async ({ name }) => ({ code: name === 'conformance' ? 2 : 0, seconds: 90 }));
  assert.deepEqual(
    results.map(({ run, code }) => [run.name, code]),
    [
      ['recorded', 0],
      ['conformance', 2],
      ['node-suite', 0],
      ['soak', 0],
      ['scraped', 0],
      ['runtimes', 0],
      ['certificates', 0],
      ['pressure', 0],
      ['repeated', 0],
    ],
  );
  const lines = renderResults(results).trim().split('\n');
  assert.match(lines[1] ?? '', /^make conformance +FAILED \(exit code 2\) in 2 min$/);
  assert.match(lines[2] ?? '', /^make conformance SUITE=node +passed in 2 min$/);
});

test('one run may be chosen by its name', () => {
  assert.deepEqual(
    chooseRuns(['soak']).map(({ target }) => target),
    [['soak']],
  );
  assert.throws(
    () => chooseRuns(['soap']),
    /no long run named soap; there are recorded, conformance, node-suite, soak, scraped, runtimes, certificates, pressure, repeated/,
  );
});

test('every run is a target of the Makefile', () => {
  const makefile = readFileSync(join(ROOT, 'Makefile'), 'utf8');
  for (const { target } of LONG_RUNS) assert.match(makefile, new RegExp(`^${target[0]}:`, 'm'));
});
