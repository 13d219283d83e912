/** What a runtime reports of pods, in the form of the kubelet's pages: complete, in parts, and wrong. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  ContainerStats,
  LinuxPodSandboxStats,
  Metric,
  PodSandboxMetrics,
  PodSandboxStats,
} from '../../wire/gen/cri-runtime-v1.ts';
import { computeResourceMetrics } from './resource-metrics.ts';
import { runtimeFamilies, runtimeReadings } from './runtime-metrics.ts';
import { bySandbox, runtimeParts } from './runtime-stats.ts';
import { EVERYTHING } from './selection.ts';
import type { StatsPod } from './targets.ts';

const NOW = Date.UTC(2026, 0, 1);
const THEN = BigInt(NOW - 5000) * 1_000_000n;
const THEN_TEXT = '2025-12-31T23:59:55Z';
const NOW_TEXT = '2026-01-01T00:00:00Z';

const NO_CONTAINER: ContainerStats = {
  attributes: { id: 'c1', metadata: undefined, labels: {}, annotations: {} },
  cpu: undefined,
  memory: undefined,
  writableLayer: undefined,
  swap: undefined,
  io: undefined,
};
const NO_MEMORY = {
  availableBytes: undefined,
  usageBytes: undefined,
  rssBytes: undefined,
  pageFaults: undefined,
  majorPageFaults: undefined,
  psi: undefined,
};
const CONTAINER: ContainerStats = {
  ...NO_CONTAINER,
  cpu: { timestamp: THEN, usageCoreNanoSeconds: { value: 3e9 }, usageNanoCores: undefined, psi: undefined },
  memory: { ...NO_MEMORY, timestamp: THEN, workingSetBytes: { value: 7 } },
  swap: { timestamp: THEN, swapAvailableBytes: { value: 10 }, swapUsageBytes: { value: 2 } },
};
const line = { total: 1, avg10: 2, avg60: 3, avg300: 4 };

function sandbox(linux: Partial<LinuxPodSandboxStats> | undefined): PodSandboxStats {
  const none = { cpu: undefined, memory: undefined, network: undefined, process: undefined, io: undefined };
  return {
    attributes: { id: 's', metadata: undefined, labels: {}, annotations: {} },
    linux: linux && { ...none, containers: [], ...linux },
  };
}

describe('statistics of the runtime in the summary', () => {
  it('have what the runtime measures, and zeros where it measures nothing of a container', () => {
    const { containers } = runtimeParts(sandbox({ containers: [CONTAINER] }), true, NOW);
    assert.deepEqual(containers.get('c1'), {
      cpu: { time: THEN_TEXT, usageCoreNanoSeconds: 3e9 },
      memory: { time: THEN_TEXT, workingSetBytes: 7 },
      swap: { time: THEN_TEXT, swapAvailableBytes: 10, swapUsageBytes: 2 },
      io: { time: NOW_TEXT },
    });
    const empty = runtimeParts(sandbox({ containers: [NO_CONTAINER] }), true, NOW);
    assert.deepEqual(empty.containers.get('c1'), {
      cpu: { time: NOW_TEXT, usageCoreNanoSeconds: 0, usageNanoCores: 0 },
      memory: { time: NOW_TEXT, usageBytes: 0, workingSetBytes: 0, rssBytes: 0 },
      swap: { time: NOW_TEXT, swapAvailableBytes: 0, swapUsageBytes: 0 },
      io: { time: NOW_TEXT },
    });
    assert.deepEqual(empty.pod, {});
    assert.deepEqual(runtimeParts(sandbox(undefined), true, NOW), { containers: new Map(), pod: {} });
  });

  it('have the pod with its pressure, network and processes', () => {
    const { pod } = runtimeParts(
      sandbox({
        cpu: { timestamp: THEN, usageCoreNanoSeconds: { value: 1 }, usageNanoCores: { value: 2 }, psi: undefined },
        io: { timestamp: THEN, psi: { full: line, some: undefined } },
        process: { timestamp: THEN, processCount: { value: 3 } },
        network: {
          timestamp: THEN,
          defaultInterface: undefined,
          interfaces: [
            { name: 'eth1', rxBytes: { value: 1 }, rxErrors: undefined, txBytes: { value: 2 }, txErrors: undefined },
          ],
        },
      }),
      true,
      NOW,
    );
    assert.deepEqual(pod, {
      cpu: { time: THEN_TEXT, usageNanoCores: 2, usageCoreNanoSeconds: 1 },
      io: { time: THEN_TEXT, psi: { full: line, some: { total: 0, avg10: 0, avg60: 0, avg300: 0 } } },
      network: { time: THEN_TEXT, name: '', interfaces: [{ name: 'eth1', rxBytes: 1, txBytes: 2 }] },
      process_stats: { process_count: 3 },
    });
  });

  it('have zeros for all that is missing, and the sum of swap, where CPU and memory alone are asked for', () => {
    const other = { ...CONTAINER, attributes: { id: 'c2', metadata: undefined, labels: {}, annotations: {} } };
    const { containers, pod } = runtimeParts(sandbox({ containers: [CONTAINER, other] }), false, NOW);
    assert.deepEqual(containers.get('c1'), {
      cpu: { time: THEN_TEXT, usageCoreNanoSeconds: 3e9 },
      memory: {
        time: THEN_TEXT,
        availableBytes: 0,
        usageBytes: 0,
        workingSetBytes: 7,
        rssBytes: 0,
        pageFaults: 0,
        majorPageFaults: 0,
      },
      swap: { time: THEN_TEXT, swapAvailableBytes: 10, swapUsageBytes: 2 },
    });
    assert.deepEqual(pod, { swap: { time: THEN_TEXT, swapAvailableBytes: 20, swapUsageBytes: 4 } });
  });
});

const metric = (name: string, labelValues: readonly string[], value: number, timestamp = 0n): Metric => ({
  name,
  timestamp,
  metricType: name.endsWith('_total') ? 0 : 1,
  labelValues,
  value: { value },
});

describe('metrics of the runtime', () => {
  const descriptors = [
    { name: 'container_b', help: 'B.', labelKeys: ['pod', 'id'] },
    { name: 'container_a_total', help: 'A.', labelKeys: [] },
  ];
  const pod: PodSandboxMetrics = {
    podSandboxId: 's',
    metrics: [metric('container_b', ['p', 'i'], 1, THEN), metric('container_c', [], 5)],
    containerMetrics: [
      { containerId: 'c1', metrics: [metric('container_a_total', [], 2), metric('container_b', ['x'], 3)] },
    ],
  };

  it('are those that it describes, with labels in order; a sample with other labels is left out', () => {
    assert.deepEqual(runtimeFamilies(descriptors, [pod], EVERYTHING), [
      {
        name: 'container_a_total',
        help: '[INTERNAL] A.',
        type: 'counter',
        samples: [{ labels: [], value: 2, time: undefined }],
      },
      {
        name: 'container_b',
        help: '[INTERNAL] B.',
        type: 'gauge',
        samples: [
          {
            labels: [
              ['id', 'i'],
              ['pod', 'p'],
            ],
            value: 1,
            time: NOW - 5000,
          },
        ],
      },
    ]);
  });

  it('are fewer where they are not selected', () => {
    const denied = runtimeFamilies(descriptors, [pod], { ...EVERYTHING, deny: ['container_a*'] });
    assert.deepEqual(
      denied.map(({ name }) => name),
      ['container_b'],
    );
    const lean = runtimeFamilies(descriptors, [pod], { ...EVERYTHING, profile: 'lean', allow: ['container_b'] });
    assert.deepEqual(lean[0]?.samples, [], 'a sandbox shows its network only');
  });

  it('show CPU, memory and swap of pods and containers', () => {
    const pods: readonly StatsPod[] = [
      {
        uid: 'u',
        name: 'p',
        namespace: 'n',
        cgroup: '/pod',
        sandbox: { id: 's', createdAt: 0, cgroup: '/pod/s' },
        containers: [{ id: 'c1', name: 'c', image: '', createdAt: NOW, cgroup: '/pod/c1' }],
      },
    ];
    const runtime = bySandbox([
      sandbox({ cpu: CONTAINER.cpu, memory: CONTAINER.memory, containers: [CONTAINER] }),
      { attributes: undefined, linux: undefined },
    ]);
    const families = computeResourceMetrics(pods, runtimeReadings(pods, runtime));
    const shown = families.flatMap(({ name, samples }) => samples.map(({ value }) => `${name} ${value}`));
    assert.deepEqual(shown, [
      'container_cpu_usage_seconds_total 3',
      'container_memory_working_set_bytes 7',
      `container_start_time_seconds ${NOW / 1000}`,
      'container_swap_limit_bytes 12',
      'container_swap_usage_bytes 2',
      'pod_cpu_usage_seconds_total 3',
      'pod_memory_working_set_bytes 7',
      'pod_swap_usage_bytes 2',
      'resource_scrape_error 1',
    ]);
    assert.equal(runtimeReadings(pods, new Map()).size, 0);
  });
});
