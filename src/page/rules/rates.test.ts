import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Usage, UsageSample } from '../../model/usage-sample.ts';
import { ratesBetween } from './rates.ts';

const usage = (cpu: number, more: Partial<Usage> = {}): Usage => ({
  ...{ cpu, memory: 7, network: undefined, disk: undefined, waiting: undefined, ...more },
});
const sample = (time: number, node: Usage, pods: UsageSample['pods'] = []): UsageSample => ({ time, node, pods });

test('counters become what was used a second', () => {
  const before = sample(1000, usage(0, { network: { in: 0, out: 10 }, disk: { in: 5, out: 5 } }));
  const waiting = { cpu: 1, memory: 2, io: 3 };
  const after = sample(3000, usage(1e9, { network: { in: 200, out: 10 }, disk: { in: 5, out: 105 }, waiting }));
  assert.deepEqual(ratesBetween(before, after).node, [0.5, 7, 100, 0, 0, 50, 1, 2, 3]);
});

test('the first sample, a counter that began again, and a clock that stands have no rates', () => {
  const at = (time: number, cpu: number) => sample(time, usage(cpu));
  assert.equal(ratesBetween(undefined, at(1, 5)).node[0], null);
  assert.equal(ratesBetween(at(1, 5), at(2, 4)).node[0], null);
  assert.equal(ratesBetween(at(1, 5), at(1, 6)).node[0], null);
});

test('pods and containers are compared with themselves', () => {
  const pod = (uid: string, cpu: number) => ({ uid, ...usage(cpu), containers: [{ name: 'main', ...usage(cpu / 2) }] });
  const before = sample(0, usage(0), [pod('a', 0)]);
  const { pods } = ratesBetween(before, sample(1000, usage(0), [pod('a', 2e9), pod('b', 1e9)]));
  assert.equal(pods.get('a')?.point[0], 2);
  assert.equal(pods.get('a')?.containers.get('main')?.[0], 1);
  assert.equal(pods.get('b')?.point[0], null);
});
