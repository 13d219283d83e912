import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatQuantity } from '../../api/quantity.ts';
import {
  computeAllocatable,
  computeCapacity,
  computeEnforced,
  type MachineCapacity,
  type Reservations,
} from './allocatable.ts';

/** The node on which the pods of tests/recorded were recorded. */
const machine: MachineCapacity = {
  cpus: 2,
  memory: 24_684_100n * 1024n,
  ephemeralStorage: 264_212_084n * 1024n,
  hugePages: new Map([
    [2n ** 30n, 0n],
    [2n ** 21n, 0n],
  ]),
  pids: undefined,
};
const none: Reservations = { systemReserved: {}, kubeReserved: {}, evictionHard: undefined };
const texts = (quantities: ReturnType<typeof computeCapacity>) =>
  Object.fromEntries([...quantities].map(([name, quantity]) => [name, formatQuantity(quantity)]));

test('the recorded node had this capacity and promised this', () => {
  const capacity = computeCapacity(machine, { maxPods: 110, podsPerCore: 0 });
  assert.deepEqual(texts(capacity), {
    cpu: '2',
    memory: '24684100Ki',
    pods: '110',
    'ephemeral-storage': '264212084Ki',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
  });
  const evictionHard = { 'imagefs.available': '1%', 'memory.available': '100Mi', 'nodefs.available': '1%' };
  assert.deepEqual(texts(computeAllocatable(capacity, { ...none, evictionHard })), {
    cpu: '2',
    memory: '24581700Ki',
    pods: '110',
    'ephemeral-storage': '267847642337',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
  });
});

test('pods by node and by core', () => {
  const pods = (maxPods: number, podsPerCore: number) =>
    texts(computeCapacity(machine, { maxPods, podsPerCore }))['pods'];
  assert.deepEqual([pods(110, 0), pods(110, 10), pods(15, 10)], ['110', '20', '15']);
});

test('reservations are subtracted, but never more than there is', () => {
  const capacity = computeCapacity({ ...machine, pids: 4000n }, { maxPods: 110, podsPerCore: 0 });
  const reservations: Reservations = {
    systemReserved: { cpu: '500m', memory: '20Gi', pid: '1000' },
    kubeReserved: { cpu: '1', memory: '20Gi' },
    evictionHard: { 'memory.available': '100Mi', 'nodefs.inodesFree': '5%' },
  };
  const enforced = texts(computeEnforced(capacity, reservations));
  assert.deepEqual([enforced['cpu'], enforced['memory'], enforced['pid']], ['500m', '0', '3k']);
  const allocatable = texts(computeAllocatable(capacity, reservations));
  assert.deepEqual([allocatable['cpu'], allocatable['memory'], allocatable['pid']], ['500m', '0', undefined]);
});

test('huge pages are no longer memory', () => {
  const capacity = computeCapacity(
    { ...machine, hugePages: new Map([[2n ** 21n, 2n ** 30n]]) },
    { maxPods: 1, podsPerCore: 0 },
  );
  const allocatable = texts(computeAllocatable(capacity, none));
  assert.deepEqual([allocatable['memory'], allocatable['hugepages-2Mi']], ['23635524Ki', '1Gi']);
});
