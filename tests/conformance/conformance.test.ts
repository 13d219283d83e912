/**
 * The short form of `make conformance`, so that it does not rot: the real suite, two quick specs, the reference kubelet.
 * One needs the registry under upstream's name, the other the whole way from the API server into a container.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSystemClock } from '../../src/base/clock.ts';
import { createProgress } from '../lab/binaries/progress.ts';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { lab } from '../lab/lab.ts';
import { runConformance } from './run.ts';
import { readSettings } from './settings.ts';
import { judge, readNames, renderVerdict } from './verdict.ts';

const FOCUS =
  'ImageVolume should succeed with pod and pull policy of Always|should support remote command execution over websockets';

test('two specs of the upstream suite pass with the reference', {
  skip: whyClusterIsSkipped(process.env),
}, async (t) => {
  const settings = readSettings({ KUBELET: 'reference', FOCUS, PROCS: '2' });
  const progress = createProgress(process.stderr, createSystemClock());
  const { results, directory } = await runConformance({ lab, env: process.env, settings, progress, test: t });
  const names = readNames(await readFile(join(import.meta.dirname, 'reference-passes.txt'), 'utf8'));
  const verdict = judge(results, names);
  assert.deepEqual(verdict.ourFault, [], `${renderVerdict(verdict, 'reference')}\n${directory}`);
  assert.equal(verdict.passed.length, 2);
  assert.deepEqual(verdict.unlisted, []);
});
