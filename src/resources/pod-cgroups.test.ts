/** On the cgroups of this machine: orphans, and processes that do not end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../api/ids.ts';
import { createSilentLogger } from '../base/logger.ts';
import { createManualClock } from '../base/manual-clock.ts';
import { readCgroupMounts } from '../host/cgroup-mounts.ts';
import { createCgroups } from '../host/cgroups.ts';
import type { CgroupWriter } from './cgroup-writer.ts';
import type { NodeCgroups } from './node-cgroups.ts';
import { createPodCgroups } from './pod-cgroups.ts';

const never = new AbortController().signal;
const cgroups = createCgroups(readCgroupMounts());
const settings = {
  podLevel: true,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriod: 100_000,
  podPidsLimit: -1,
  protectMemory: false,
};

/** What is below the test's own cgroup; `stuck` pods can't be removed. */
function createPlace(root: string, stuck: ReadonlySet<string> = new Set()) {
  const known = new Set<string>();
  const clock = createManualClock();
  const writer: Pick<CgroupWriter, 'remove'> = {
    remove: async (name) => (stuck.has(name.at(-1) ?? '') ? false : await cgroups.remove(`/${name.join('/')}`)),
  };
  const node: Partial<NodeCgroups> = {
    name: [root],
    driver: () => 'cgroupfs',
    writer: () => writer as CgroupWriter,
    pod: (uid) =>
      known.has(uid) ? { metadata: { name: 'p', namespace: 'n', uid }, spec: { containers: [] } } : undefined,
    drop: (uid) => void known.delete(uid),
  };
  const pods = createPodCgroups({ clock, log: createSilentLogger(), cgroups, node: node as NodeCgroups }, settings);
  return { pods, known, clock };
}

test('a cgroup that appears without a pod goes at the second look; those of pods and of an earlier kubelet stay', async (t) => {
  const root = `kubelet-ts-test-${process.pid}-orphans`;
  cgroups.create(`/${root}/besteffort/podold`);
  t.after(() => cgroups.remove(`/${root}`));
  const { pods, known } = createPlace(root);
  await pods.sweep(never);
  cgroups.create(`/${root}/besteffort/podmine`);
  known.add('mine');
  cgroups.create(`/${root}/burstable/podlate`);
  await pods.sweep(never);
  assert.deepEqual((await pods.list()).toSorted(), ['late', 'mine', 'old']);
  await pods.sweep(never);
  assert.deepEqual((await pods.list()).toSorted(), ['mine', 'old']);
});

test('a pod that is stuck holds up neither the removal nor the sweep of others', async (t) => {
  const root = `kubelet-ts-test-${process.pid}-stuck`;
  const stuck = new Set(['podbad']);
  const { pods, clock } = createPlace(root, stuck);
  await pods.sweep(never);
  for (const uid of ['bad', 'good', 'other']) cgroups.create(`/${root}/besteffort/pod${uid}`);
  t.after(() => cgroups.remove(`/${root}`));
  const failing = pods.remove(podUid('bad'), never);
  await pods.remove(podUid('good'), never);
  assert.deepEqual((await pods.list()).toSorted(), ['bad', 'other']);
  failing.catch(() => undefined);
  let failed = false;
  const rejected = assert.rejects(failing, /processes in it have not ended/).then(() => {
    failed = true;
  });
  while (!failed) {
    await clock.advance(1000);
    await new Promise(setImmediate);
  }
  await rejected;
  await pods.sweep(never);
  await pods.sweep(never);
  assert.deepEqual(await pods.list(), ['bad']);
  stuck.clear();
  await pods.sweep(never);
  assert.deepEqual(await pods.list(), []);
});
