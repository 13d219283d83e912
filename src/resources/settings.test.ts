import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../config/config.ts';
import { reservationsOf } from './settings.ts';

const config = (reservedSystemCPUs: string, allocatableIgnoresEviction = false) =>
  ({
    kubelet: {
      reservedSystemCPUs,
      systemReserved: { cpu: '500m', memory: '1Gi' },
      kubeReserved: { cpu: '100m', memory: '2Gi' },
      evictionHard: { 'memory.available': '100Mi' },
    },
    settings: { containers: { allocatableIgnoresEviction } },
  }) as unknown as Config;

test('CPUs that are reserved by number count instead of amounts', () => {
  assert.deepEqual(reservationsOf(config('0-2')), {
    systemReserved: { cpu: '3', memory: '1Gi' },
    kubeReserved: { memory: '2Gi' },
    evictionHard: { 'memory.available': '100Mi' },
  });
});

test('without them the amounts count, and the eviction threshold unless it is ignored', () => {
  assert.deepEqual(reservationsOf(config('', true)), {
    systemReserved: { cpu: '500m', memory: '1Gi' },
    kubeReserved: { cpu: '100m', memory: '2Gi' },
    evictionHard: undefined,
  });
});
