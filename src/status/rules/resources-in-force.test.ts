import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequirements } from '../../api/container.ts';
import type { ObservedContainer } from '../../model/observation.ts';
import { resourcesInForce } from './resources-in-force.ts';

const allocated: ResourceRequirements = {
  limits: { cpu: '0.25', memory: '100M', 'example.com/gpu': '1' },
  requests: { cpu: '100m', memory: '16Mi' },
};
const asMade = { cpuShares: 102, cpuQuota: 25_000, cpuPeriod: 100_000, memoryLimit: 100_000_000 };

type Case = readonly [what: string, seen: Partial<ObservedContainer>, expected: ResourceRequirements];
const cases: readonly Case[] = [
  ['as it was made: in the words of its pod', { resources: asMade }, allocated],
  ['a runtime that does not say', { resources: undefined }, allocated],
  ['a runtime that knows of no limits', { resources: { ...asMade, cpuQuota: 0, memoryLimit: 0 } }, allocated],
  ['one that has ended', { state: 'exited', resources: { ...asMade, memoryLimit: 1 } }, allocated],
  [
    'changed behind the back of the kubelet',
    { resources: { cpuShares: 512, cpuQuota: 150_000, cpuPeriod: 100_000, memoryLimit: 64 * 1024 * 1024 } },
    {
      limits: { cpu: '1500m', memory: '64Mi', 'example.com/gpu': '1' },
      requests: { cpu: '500m', memory: '16Mi' },
    },
  ],
];
for (const [what, seen, expected] of cases) {
  test(`resources in force: ${what}`, () =>
    assert.deepEqual(resourcesInForce(allocated, { state: 'running', resources: undefined, ...seen }), expected));
}

test('a container that asks for nothing has nothing, whatever shares the runtime gave it', () => {
  assert.deepEqual(resourcesInForce({}, { state: 'running', resources: { ...asMade, cpuShares: 2 } }), {});
});
