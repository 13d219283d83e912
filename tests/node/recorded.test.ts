/** The short form of `make recorded`: a few recorded lives, run for real and compared with the recording. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadLife } from '../recorded/lives.ts';
import { createJudge } from '../recorded/run/compare.ts';
import { readDifferences } from '../recorded/run/differences.ts';
import { liveAgain } from '../recorded/run/run.ts';

/** Variables and a hosts file, two containers with limits, the order of init containers, a sidecar with a probe, and an end. */
const LIVES = ['env-values', 'guaranteed', 'init-chain', 'sidecar', 'fails'];

test('pods live under our kubelet as recorded under the reference', async (t) => {
  const judge = createJudge(readDifferences());
  for (const life of await liveAgain(LIVES.map(loadLife), { test: t })) {
    await t.test(life.name, () => {
      for (const item of life.items) {
        const { unexplained } = judge.judge(life, item);
        assert.deepEqual(unexplained, [], `${item.name}: - only recorded, + only here`);
      }
    });
  }
});
