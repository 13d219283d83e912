import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequirements } from '../../api/container.ts';
import type { Pod, PodSpec } from '../../api/pod.ts';
import { planPreemption } from './preemption.ts';
import type { Shortage } from './shortages.ts';

const podOf = (name: string, resources: ResourceRequirements, more: Partial<PodSpec> = {}): Pod => ({
  metadata: { name, namespace: 'n', uid: name },
  spec: { containers: [{ name: 'c', resources }], ...more },
});
const burstable = (name: string, cpu: string, memory = '1Mi') => podOf(name, { requests: { cpu, memory } });
const guaranteed = (name: string, cpu: string, memory = '1Mi') =>
  podOf(name, { requests: { cpu, memory }, limits: { cpu, memory } });
const bestEffort = (name: string) => podOf(name, {});
const critical = podOf('critical', {}, { priority: 2_000_000_000 });

const lacking = (resource: string, amount: bigint): Shortage => ({
  resource,
  requested: amount,
  used: 0n,
  capacity: 0n,
});
const victims = (others: readonly Pod[], ...shortages: readonly Shortage[]) => {
  const plan = planPreemption({ pod: critical, others, shortages, podLevel: true });
  return plan.kind === 'possible' ? plan.victims.map(({ metadata }) => metadata.name) : plan.message;
};

test('one pod that is enough rather than two', () => {
  assert.deepEqual(
    victims([burstable('a', '300m'), burstable('b', '600m'), burstable('c', '300m')], lacking('cpu', 500n)),
    ['b'],
  );
});

test('the smallest of those that are enough', () => {
  assert.deepEqual(
    victims([burstable('a', '900m'), burstable('b', '600m'), burstable('c', '700m')], lacking('cpu', 500n)),
    ['b'],
  );
  assert.deepEqual(victims([burstable('a', '600m', '9Mi'), burstable('b', '600m', '2Mi')], lacking('cpu', 500n)), [
    'b',
  ]);
});

test('the lower class first, even if more of its pods must end', () => {
  assert.deepEqual(
    victims([guaranteed('g', '500m'), burstable('a', '300m'), burstable('b', '300m')], lacking('cpu', 500n))
      .toString()
      .split(',')
      .toSorted(),
    ['a', 'b'],
  );
});

test('no more of a lower class than needed beside those of a higher one', () => {
  assert.deepEqual(
    victims([guaranteed('g', '800m'), burstable('a', '100m'), burstable('b', '400m')], lacking('cpu', 900n)),
    ['a', 'g'],
  );
});

test('where only the number of pods is the limit, the pod with the smallest requests ends', () => {
  assert.deepEqual(victims([guaranteed('g', '1'), burstable('b', '1'), bestEffort('e')], lacking('pods', 1n)), ['e']);
});

test('several needs at once', () => {
  const others = [burstable('cpu', '1', '1Mi'), burstable('memory', '1m', '1Gi'), burstable('both', '600m', '600Mi')];
  assert.deepEqual(victims(others, lacking('cpu', 500n), lacking('memory', 500n * 2n ** 20n)), ['both']);
});

test('the overhead of a pod becomes free with it', () => {
  const pod = podOf('o', { requests: { cpu: '400m' } }, { overhead: { cpu: '100m' } });
  assert.deepEqual(victims([pod], lacking('cpu', 500n)), ['o']);
  const idle = podOf('i', {}, { overhead: { cpu: '500m' } });
  assert.equal(
    victims([idle], lacking('cpu', 500n)),
    'no set of running pods found to reclaim resources: [(res: cpu, q: 500), ]',
  );
});

test('only pods that may be preempted', () => {
  const equal = podOf('equal', { requests: { cpu: '1' } }, { priority: 2_000_000_000 });
  assert.match(victims([equal], lacking('cpu', 500n)).toString(), /no set of running pods/);
  const plan = planPreemption({
    pod: podOf('higher', {}, { priority: 2_000_001_000 }),
    others: [equal],
    shortages: [lacking('cpu', 500n)],
    podLevel: true,
  });
  assert.deepEqual(plan.kind === 'possible' && plan.victims, [equal]);
});
