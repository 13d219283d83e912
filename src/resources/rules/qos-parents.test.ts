import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequirements } from '../../api/container.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { protectedMemory, type QosSettings, qosParentLimits } from './qos-parents.ts';

const podOf = (resources: ResourceRequirements, more: Partial<PodSpec> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [{ name: 'c', resources }], ...more },
});
const amounts = { cpu: '1', memory: '100' };
const guaranteed = podOf({ limits: amounts, requests: amounts });
const burstable = podOf({ requests: { cpu: '250m', memory: '40' } }, { overhead: { cpu: '50m', memory: '10' } });
const bestEffort = podOf({});
const pods = [guaranteed, burstable, burstable, bestEffort];
const settings: QosSettings = {
  podLevel: true,
  protectMemory: undefined,
  reservedMemoryPercent: undefined,
  memoryForPods: 1000n,
};
const hugePages = 'unbounded';

test('burstable pods weigh what they request together', () => {
  assert.deepEqual(qosParentLimits(pods, settings), {
    Guaranteed: { hugePages },
    Burstable: { cpuShares: 614, hugePages },
    BestEffort: { cpuShares: 2, hugePages },
  });
  assert.equal(qosParentLimits([], settings).Burstable.cpuShares, 2);
});

test('what is protected below is protected above, and a protection that was switched off goes', () => {
  const on = qosParentLimits(pods, { ...settings, protectMemory: true });
  assert.deepEqual([on.Guaranteed.memoryMin, on.Burstable.memoryLow], [200n, 100n]);
  assert.deepEqual(protectedMemory(on), { min: 100, low: 100 });
  assert.equal(on.BestEffort.memoryLow, undefined);
  const off = qosParentLimits(pods, { ...settings, protectMemory: false });
  assert.deepEqual([off.Guaranteed.memoryMin, off.Burstable.memoryLow], [0n, 0n]);
  assert.deepEqual(protectedMemory(qosParentLimits(pods, settings)), { min: 0, low: 0 });
});

test('lower classes leave a part of what higher ones request', () => {
  const half = qosParentLimits(pods, { ...settings, reservedMemoryPercent: 50n });
  assert.deepEqual([half.Guaranteed.memory, half.Burstable.memory, half.BestEffort.memory], [undefined, 950n, 900n]);
  assert.equal(
    qosParentLimits(pods, { ...settings, reservedMemoryPercent: 50n, memoryForPods: 0n }).Burstable.memory,
    undefined,
  );
});
