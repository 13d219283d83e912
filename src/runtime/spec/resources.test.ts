import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, ResourceRequirements } from '../../api/container.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { type ContainerResourcesInput, containerResources, overheadResources, sandboxResources } from './resources.ts';
import type { ResourceSettings, SpecGate } from './settings.ts';

const settings: ResourceSettings = {
  cgroupVersion: 1,
  cpuCfsQuota: true,
  cpuCfsQuotaPeriod: 100_000,
  memoryCapacity: 10_000_000_000n,
  swapCapacity: 0n,
  swapController: false,
  swapBehavior: '',
  singleProcessOomKill: true,
  hugePageSizes: [],
  pageSize: 4096,
  memoryThrottlingFactor: 0.9,
  memoryReservationPolicy: 'None',
};
const v2: ResourceSettings = { ...settings, cgroupVersion: 2, singleProcessOomKill: false };
const off: ReadonlySet<SpecGate> = new Set(['MemoryQoS']);

function input(
  resources: ResourceRequirements,
  more: Partial<ContainerResourcesInput> & { spec?: Partial<PodSpec> } = {},
): ContainerResourcesInput {
  const container: Container = { name: 'c', resources };
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: { containers: [container], ...more.spec },
  };
  return {
    pod,
    container,
    qosClass: 'Burstable',
    exclusiveCpus: false,
    pinning: { cpus: '', mems: '' },
    nodeAllocatable: {},
    settings,
    gates: (gate) => !off.has(gate),
    ...more,
  };
}

test('CPU and memory in the numbers of the kernel', () => {
  const cases: readonly {
    what: string;
    resources: ResourceRequirements;
    more?: Partial<ContainerResourcesInput> & { spec?: Partial<PodSpec> };
    want: object;
  }[] = [
    { what: 'nothing', resources: {}, want: { cpuShares: 2, cpuQuota: 0, memoryLimitInBytes: 0 } },
    {
      what: 'a request',
      resources: { requests: { cpu: '250m', memory: '1Gi' } },
      want: { cpuShares: 256, cpuQuota: 0, memoryLimitInBytes: 0 },
    },
    {
      what: 'a limit is the request too',
      resources: { limits: { cpu: '500m', memory: '64Mi' } },
      want: { cpuShares: 512, cpuQuota: 50_000, memoryLimitInBytes: 67_108_864 },
    },
    {
      what: 'a request of zero is one',
      resources: { requests: { cpu: '0' }, limits: { cpu: '1' } },
      want: { cpuShares: 2, cpuQuota: 100_000, memoryLimitInBytes: 0 },
    },
    {
      what: 'half a thousandth',
      resources: { limits: { cpu: '0.0005' } },
      want: { cpuShares: 2, cpuQuota: 1000, memoryLimitInBytes: 0 },
    },
    {
      what: 'more memory than there is',
      resources: { limits: { memory: '8Ei' } },
      want: { cpuShares: 2, cpuQuota: 0, memoryLimitInBytes: Number.MAX_SAFE_INTEGER },
    },
    {
      what: 'the limits of the pod',
      resources: { requests: { cpu: '20m' } },
      more: { spec: { resources: { limits: { cpu: '400m', memory: '1Mi' } } } },
      want: { cpuShares: 20, cpuQuota: 40_000, memoryLimitInBytes: 1_048_576 },
    },
    {
      what: 'not without the gate',
      resources: {},
      more: { spec: { resources: { limits: { cpu: '400m' } } }, gates: () => false },
      want: { cpuShares: 2, cpuQuota: 0, memoryLimitInBytes: 0 },
    },
    {
      what: 'own limits first',
      resources: { limits: { memory: '2Mi' } },
      more: { spec: { resources: { limits: { memory: '1Mi' } } } },
      want: { cpuShares: 2, cpuQuota: 0, memoryLimitInBytes: 2_097_152 },
    },
    {
      what: 'CPUs of its own',
      resources: { limits: { cpu: '2' } },
      more: { exclusiveCpus: true },
      want: { cpuShares: 2048, cpuQuota: -1, memoryLimitInBytes: 0 },
    },
    {
      what: 'CPUs of its own, gate off',
      resources: { limits: { cpu: '2' } },
      more: { exclusiveCpus: true, gates: () => false },
      want: { cpuShares: 2048, cpuQuota: 200_000, memoryLimitInBytes: 0 },
    },
  ];
  for (const { what, resources, more, want } of cases) {
    const { cpuShares, cpuQuota, memoryLimitInBytes } = containerResources(input(resources, more));
    assert.deepEqual({ cpuShares, cpuQuota, memoryLimitInBytes }, want, what);
  }
});

test('the period, and no quota at all', () => {
  const limited = { limits: { cpu: '1' } };
  const short = { ...settings, cpuCfsQuotaPeriod: 5000 };
  assert.equal(containerResources(input(limited, { settings: short })).cpuQuota, 5000);
  assert.equal(containerResources(input(limited, { settings: short, gates: () => false })).cpuPeriod, 100_000);
  const none = containerResources(input(limited, { settings: { ...settings, cpuCfsQuota: false } }));
  assert.equal(none.cpuQuota, undefined);
  assert.equal(none.cpuPeriod, undefined);
});

test('cgroup v2: a container is killed as a whole, unless one process is to go', () => {
  assert.deepEqual(containerResources(input({}, { settings: v2 })).unified, { 'memory.oom.group': '1' });
  assert.deepEqual(containerResources(input({}, { settings: { ...v2, singleProcessOomKill: true } })).unified, {});
  assert.deepEqual(containerResources(input({}, { settings: { ...v2, cgroupVersion: 1 } })).unified, {});
});

test('CPUs and memory nodes that were chosen for it', () => {
  const pinned = containerResources(input({}, { pinning: { cpus: '2-3', mems: '0' } }));
  assert.equal(pinned.cpusetCpus, '2-3');
  assert.equal(pinned.cpusetMems, '0');
});

test('all of cgroup v2 comes together', () => {
  const everything = containerResources(
    input(
      { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } },
      { settings: { ...v2, swapController: true }, gates: () => true },
    ),
  );
  assert.deepEqual(everything.unified, {
    'memory.oom.group': '1',
    'memory.swap.max': '0',
    'memory.min': '0',
    'memory.low': '0',
    'memory.high': '2040107008',
  });
});

test('a sandbox is as large as all its containers, its overhead apart', () => {
  const container = (requests: Record<string, string>, limits: Record<string, string>): Container => ({
    name: 'c',
    resources: { requests, limits },
  });
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: {
      containers: [container({ cpu: '1' }, { cpu: '2', memory: '1Mi' }), container({}, { memory: '1Mi' })],
      overhead: { cpu: '10m', memory: '8Mi' },
    },
  };
  const common = { pod, settings, gates: () => true };
  assert.deepEqual(sandboxResources({ ...common, exclusiveCpus: false }), {
    cpuShares: 1024,
    cpuPeriod: 100_000,
    cpuQuota: 200_000,
    memoryLimitInBytes: 2_097_152,
  });
  assert.equal(sandboxResources({ ...common, exclusiveCpus: true }).cpuQuota, -1);
  assert.deepEqual(
    overheadResources(pod, settings, () => true),
    { cpuShares: 10, cpuPeriod: 100_000, cpuQuota: 1000, memoryLimitInBytes: 8_388_608 },
  );
  assert.deepEqual(
    overheadResources({ ...pod, spec: { containers: [] } }, settings, () => true),
    {},
  );
});
