import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadTree, RECORDED_CONFIG } from '../../../tests/recorded/systemd/node.ts';
import { cgroupValues } from './cgroup-files.ts';
import { ENFORCED_RESERVATIONS, planEnforcement } from './enforcement.ts';

const { systemReserved, kubeReserved, systemReservedCgroup, kubeReservedCgroup } = RECORDED_CONFIG;
const settings = {
  reservations: { systemReserved, kubeReserved, evictionHard: undefined },
  enforce: ENFORCED_RESERVATIONS,
  systemReservedCgroup,
  kubeReservedCgroup,
  protectMemory: false,
};

for (const version of [1, 2] as const) {
  test(`cgroup v${version}: the recorded slices were held to what is reserved`, () => {
    const { files } = loadTree(`v${version}`);
    const controllers = new Set(['cpu', 'memory', 'pids', 'cpuset', 'hugetlb']);
    const kernel = { version, controllers, hugePageSizes: version === 2 ? [2n ** 21n] : [] };
    const enforce = ['system-reserved', 'kube-reserved'] as const;
    const plan = planEnforcement({ ...settings, enforce, protectMemory: version === 2 }, '0-1');
    assert.deepEqual(
      plan.map(({ cgroup }) => cgroup),
      ['/sysreserved.slice', '/kubereserved.slice'],
    );
    for (const { cgroup, limits } of plan) {
      for (const { file, value } of cgroupValues(limits, kernel))
        assert.equal(value, files[cgroup]?.[file], `${cgroup} ${file}`);
    }
  });
}

test('what can be compressed is the processor alone; reserved memory may be protected, too', () => {
  const plan = planEnforcement({ ...settings, protectMemory: true }, '0-1');
  assert.deepEqual(
    plan.map(({ limits: { cpuShares, memory, memoryMin, pids } }) => [cpuShares, memory, memoryMin, pids]),
    [
      [153, 2n ** 28n, 2n ** 28n, 900],
      [51, 2n ** 27n, 2n ** 27n, 800],
      [153, undefined, undefined, undefined],
      [51, undefined, undefined, undefined],
    ],
  );
  assert.deepEqual(plan.map(({ succeeded, failed }) => [succeeded, failed]).slice(1, 3), [
    [
      'Updated limits on kube reserved cgroup /kubereserved.slice',
      'Failed to enforce Kube Reserved Cgroup Limits on "/kubereserved.slice"',
    ],
    [
      'Updated limits on system reserved cgroup /sysreserved.slice',
      'Failed to enforce System Reserved Compressible Cgroup Limits on "/sysreserved.slice"',
    ],
  ]);
  assert.deepEqual(planEnforcement({ ...settings, enforce: [] }, '0'), []);
});
