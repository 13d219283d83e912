import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../api/container.ts';
import type { Pod } from '../../api/pod.ts';
import type { QosClass } from '../../api/pod-status.ts';
import type { ResourceSettings } from './settings.ts';
import { swapLimit } from './swap.ts';

const limited = {
  cgroupVersion: 2,
  memoryCapacity: 1000n,
  swapCapacity: 500n,
  swapController: true,
  swapBehavior: 'LimitedSwap',
} as ResourceSettings;

interface Case {
  readonly what: string;
  readonly resources?: Container['resources'];
  readonly qos?: QosClass;
  readonly settings?: Partial<ResourceSettings>;
  readonly annotations?: Record<string, string>;
  readonly gate?: boolean;
  readonly bytes?: number;
  readonly max?: string;
}

test('swap in proportion to the request, for burstable containers only', () => {
  const asks = { requests: { memory: '100' }, limits: { memory: '200' } };
  const cases: readonly Case[] = [
    { what: 'a tenth of the memory', resources: asks, max: '50' },
    { what: 'no limit', resources: { requests: { memory: '100' } }, max: '50' },
    { what: 'rounded down', resources: { requests: { memory: '1' } }, max: '0' },
    { what: 'asks for nothing', max: '0' },
    { what: 'request is limit', resources: { requests: { memory: '9' }, limits: { memory: '9' } }, max: '0' },
    { what: 'asks for more than there is', resources: { requests: { memory: '2000' } }, max: '0' },
    { what: 'guaranteed', resources: asks, qos: 'Guaranteed', max: '0' },
    { what: 'critical', resources: asks, annotations: { 'kubernetes.io/config.source': 'file' }, max: '0' },
    { what: 'not allowed', resources: asks, settings: { swapBehavior: 'NoSwap' }, max: '0' },
    { what: 'not said', resources: asks, settings: { swapBehavior: '' }, max: '0' },
    { what: 'gate off', resources: asks, gate: false, max: '0' },
    { what: 'the kernel can not', resources: asks, settings: { swapController: false } },
    { what: 'cgroup v1: memory and swap together', resources: asks, settings: { cgroupVersion: 1 }, bytes: 200 },
    { what: 'cgroup v1, the kernel can not', resources: asks, settings: { cgroupVersion: 1, swapController: false } },
  ];
  for (const {
    what,
    resources = {},
    qos = 'Burstable',
    settings,
    annotations = {},
    gate = true,
    bytes = 0,
    max,
  } of cases) {
    const container: Container = { name: 'c', resources };
    const pod: Pod = {
      metadata: { name: 'p', namespace: 'n', uid: 'u', annotations },
      spec: { containers: [container] },
    };
    const got = swapLimit({
      pod,
      container,
      qosClass: qos,
      memoryLimit: 200,
      settings: { ...limited, ...settings },
      gates: () => gate,
    });
    assert.deepEqual(got, { bytes, unified: max === undefined ? {} : { 'memory.swap.max': max } }, what);
  }
});
