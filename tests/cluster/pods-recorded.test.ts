/** The short form of `make recorded` in a cluster: a few recorded lives that need an API server, compared with the recording. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyClusterIsSkipped } from '../lab/cluster/skip.ts';
import { loadLife } from '../recorded/lives.ts';
import { liveInCluster } from '../recorded/run/cluster-run.ts';
import { createJudge } from '../recorded/run/compare.ts';
import { readDifferences } from '../recorded/run/differences.ts';

/** Variables and volumes of objects, what is missing, a runtime class, a gate, a deadline, a pod that is turned away. */
const LIVES = [
  'env-objects',
  'volumes-small',
  'missing-secret-volume',
  'runtime-class',
  'readiness-gate',
  'deadline',
  'out-of-cpu',
  'completes',
];

test('pods of a cluster live under our kubelet as recorded', { skip: whyClusterIsSkipped(process.env) }, async (t) => {
  const judge = createJudge(readDifferences('cluster'));
  for (const life of await liveInCluster(LIVES.map(loadLife), { test: t })) {
    await t.test(life.name, () => {
      for (const item of life.items) {
        const { unexplained } = judge.judge(life, item);
        assert.deepEqual(unexplained, [], `${item.name}: - only recorded, + only here`);
      }
    });
  }
});
