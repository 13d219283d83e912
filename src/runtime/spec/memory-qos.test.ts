import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../api/container.ts';
import type { QosClass } from '../../api/pod-status.ts';
import { type MemoryQosInput, memoryQos } from './memory-qos.ts';
import type { ResourceSettings } from './settings.ts';

const settings = {
  cgroupVersion: 2,
  pageSize: 4096,
  memoryThrottlingFactor: 0.9,
  memoryReservationPolicy: 'TieredReservation',
} as ResourceSettings;

function qos(resources: Container['resources'], qosClass: QosClass, more: Partial<MemoryQosInput> = {}) {
  const container: Container = { name: 'c', resources: resources ?? {} };
  return memoryQos({ container, qosClass, nodeAllocatable: { memory: '10Gi' }, settings, gates: () => true, ...more });
}

test('requested memory is protected, and use above it slowed down', () => {
  const [one, two] = [{ memory: '1Gi' }, { memory: '2Gi' }];
  assert.deepEqual(qos({ requests: one, limits: one }, 'Guaranteed'), { 'memory.min': '1073741824' });
  assert.deepEqual(qos({ requests: one, limits: two }, 'Burstable'), {
    'memory.low': '1073741824',
    'memory.high': '2040107008',
  });
  assert.deepEqual(
    qos({ requests: one }, 'Burstable'),
    { 'memory.low': '1073741824', 'memory.high': '9771048960' },
    'no limit: the node',
  );
  assert.deepEqual(qos({ limits: two }, 'Burstable'), {
    'memory.min': '0',
    'memory.low': '0',
    'memory.high': '1932734464',
  });
  assert.deepEqual(qos({}, 'BestEffort'), { 'memory.min': '0', 'memory.low': '0' });
  assert.deepEqual(qos({ requests: one }, 'Burstable', { nodeAllocatable: {} }), { 'memory.low': '1073741824' });
});

test('without a policy nothing is reserved; without v2 or the gate nothing is said', () => {
  const one = { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } };
  const policy = { settings: { ...settings, memoryReservationPolicy: 'None' } };
  assert.deepEqual(qos(one, 'Guaranteed', policy), { 'memory.min': '0', 'memory.low': '0' });
  assert.deepEqual(qos(one, 'Guaranteed', { settings: { ...settings, cgroupVersion: 1 } }), {});
  assert.deepEqual(qos(one, 'Guaranteed', { gates: () => false }), {});
});
