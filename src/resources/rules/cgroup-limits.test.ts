import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadLives } from '../../../tests/recorded/lives.ts';
import type { Container, ResourceRequirements } from '../../api/container.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { qosClassOf } from '../../api/qos-class.ts';
import { parseQuantity, zeroQuantity } from '../../api/quantity.ts';
import { cgroupValues } from './cgroup-files.ts';
import { limitsOf, type PodLimitSettings, podCgroupLimits } from './cgroup-limits.ts';
import { cgroupPath, nodeCgroup, podCgroup } from './cgroup-name.ts';

const settings: PodLimitSettings = {
  podLevel: true,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriod: 100_000,
  podPidsLimit: -1,
  protectMemory: false,
};
/** What a new cgroup of the first generation says where no one wrote anything. */
const UNTOUCHED = {
  'cpu.shares': '1024',
  'cpu.cfs_quota_us': '-1',
  'cpu.cfs_period_us': '100000',
  'memory.limit_in_bytes': '9223372036854771712',
  'memory.soft_limit_in_bytes': '9223372036854771712',
  'pids.max': 'max',
  'cpuset.cpus': '0-1',
};
const kernel = { version: 1 as const, controllers: new Set(['cpu', 'memory', 'pids', 'cpuset']), hugePageSizes: [] };

test('the recorded pods had these cgroups with these values', () => {
  let seen = 0;
  for (const life of loadLives()) {
    const recorded = Object.entries(life.cgroups).find(([path]) => path.endsWith(`pod${life.pod.metadata.uid}`));
    if (recorded === undefined) continue;
    seen += 1;
    const { pod } = life;
    const [path, values] = recorded;
    assert.equal(cgroupPath(podCgroup(nodeCgroup('/'), qosClassOf(pod, settings), pod.metadata.uid), 'cgroupfs'), path);
    const written = cgroupValues(podCgroupLimits(pod, settings), kernel);
    const ours = { ...UNTOUCHED, ...Object.fromEntries(written.map(({ file, value }) => [file, value])) };
    assert.deepEqual(ours, values, life.name);
  }
  assert.ok(seen > 40, `only ${seen} recorded lives have a pod cgroup`);
});

const podOf = (spec: Partial<PodSpec>): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], ...spec },
});
const container = (resources: ResourceRequirements, more: Partial<Container> = {}): Container => ({
  name: 'c',
  resources,
  ...more,
});

test('a pod is limited where nothing in it is without a limit', () => {
  const limited = container({ limits: { cpu: '1', memory: '10Mi' }, requests: { cpu: '100m' } });
  const free = container({ requests: { cpu: '100m' } });
  const sidecar = container({ limits: { cpu: '1', memory: '10Mi' } }, { name: 's', restartPolicy: 'Always' });
  const cases: readonly (readonly [string, Partial<PodSpec>, number | undefined, bigint | undefined])[] = [
    ['all limited', { containers: [limited, limited] }, 200_000, 20n * 2n ** 20n],
    ['one is free', { containers: [limited, free] }, undefined, undefined],
    ['a free init container', { containers: [limited], initContainers: [container({})] }, undefined, undefined],
    [
      'a free init container after a limited sidecar',
      { containers: [limited], initContainers: [sidecar, container({}, { name: 'i' })] },
      200_000,
      20n * 2n ** 20n,
    ],
    [
      'a free init container before a limited sidecar',
      { containers: [limited], initContainers: [container({}, { name: 'i' }), sidecar] },
      undefined,
      undefined,
    ],
    [
      'the pod itself is limited',
      { containers: [free], resources: { limits: { memory: '1Gi' } } },
      undefined,
      2n ** 30n,
    ],
  ];
  for (const [name, spec, quota, memory] of cases) {
    const limits = podCgroupLimits(podOf(spec), settings);
    assert.equal(limits.cpuQuota, quota, name);
    assert.equal(limits.memory, memory, name);
  }
});

test('settings of the node', () => {
  const pod = podOf({
    containers: [container({ limits: { cpu: '500m', memory: '1Mi' }, requests: { cpu: '500m', memory: '1Mi' } })],
  });
  assert.equal(podCgroupLimits(pod, { ...settings, cpuCfsQuota: false }).cpuQuota, -1);
  assert.deepEqual(
    [podCgroupLimits(pod, { ...settings, cpuCfsQuotaPeriod: 20_000 })].map(({ cpuQuota, cpuPeriod }) => [
      cpuQuota,
      cpuPeriod,
    ]),
    [[10_000, 20_000]],
  );
  assert.equal(podCgroupLimits(pod, { ...settings, podPidsLimit: 77 }).pids, 77);
  for (const none of [0, -1]) assert.equal(podCgroupLimits(pod, { ...settings, podPidsLimit: none }).pids, undefined);
});

test('huge pages by size', () => {
  const pod = podOf({
    containers: [
      container({
        limits: { 'hugepages-2Mi': '4Mi', memory: '1Mi' },
        requests: { 'hugepages-2Mi': '4Mi', memory: '1Mi' },
      }),
    ],
  });
  assert.deepEqual(podCgroupLimits(pod, settings).hugePages, new Map([[2n ** 21n, 2n ** 22n]]));
});

test('requested memory is protected: fully for guaranteed pods, as far as possible for burstable ones', () => {
  const amounts = { cpu: '1', memory: '1Mi' };
  const protecting = { ...settings, protectMemory: true };
  const of = (resources: ResourceRequirements) => {
    const { memoryMin, memoryLow } = podCgroupLimits(podOf({ containers: [container(resources)] }), protecting);
    return [memoryMin, memoryLow];
  };
  assert.deepEqual(of({ requests: amounts, limits: amounts }), [2n ** 20n, undefined]);
  assert.deepEqual(of({ requests: amounts }), [undefined, 2n ** 20n]);
  assert.deepEqual(of({ requests: { cpu: '1' } }), [undefined, undefined]);
  assert.deepEqual(of({}), [undefined, undefined]);
});

test('amounts of resources', () => {
  const of = (text: string) => {
    const quantity = parseQuantity(text);
    return quantity.ok ? quantity.value : zeroQuantity;
  };
  const limits = limitsOf(
    new Map([
      ['cpu', of('1500m')],
      ['memory', of('1Gi')],
      ['pid', of('4000')],
      ['pods', of('110')],
    ]),
  );
  assert.deepEqual(limits, { cpuShares: 1536, memory: 2n ** 30n, pids: 4000, hugePages: new Map() });
});
