import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_PRESSURE } from './kernel-text.ts';
import { type CgroupReading, NO_READING } from './reading.ts';
import type { StatsPod } from './targets.ts';
import { computeUsageSample, parseDiskTransfer } from './usage-sample.ts';

const POD: StatsPod = {
  ...{ uid: 'u', name: 'p', namespace: 'n', cgroup: '/p' },
  sandbox: { id: 's', createdAt: 0, cgroup: '/p/s' },
  containers: [
    { id: 'c', name: 'main', image: 'i', createdAt: 0, cgroup: '/p/c' },
    { id: 'd', name: 'ended', image: 'i', createdAt: 0, cgroup: '/p/d' },
  ],
};

const some = (avg10: number) => ({ ...NO_PRESSURE, some: { ...NO_PRESSURE.some, avg10 } });
const card = (name: string, rxBytes: number, txBytes: number) =>
  ({ name, rxBytes, txBytes }) as NonNullable<CgroupReading['interfaces']>[number];
const disk = (read: number, written: number) => ({
  ...{ major: 8, minor: 0 },
  operations: { Read: read, Write: written },
});
const reading = (cpu: number, workingSet: number, more: Partial<CgroupReading> = {}) =>
  ({
    ...NO_READING,
    cpu: { usage: cpu, pressure: some(7) },
    memory: { workingSet, pressure: some(3) },
    ...more,
  }) as CgroupReading;

test('a sample has the node, pods with the network of their sandbox, and containers that still run', () => {
  const readings = new Map([
    ['/', reading(100, 50)],
    ['/p', reading(10, 5, { io: { bytes: [disk(1, 2), disk(3, 4)], serviced: [], pressure: some(1) } })],
    ['/p/s', reading(1, 1, { interfaces: [card('lo', 9, 9), card('eth0', 20, 30)] })],
    ['/p/c', reading(8, 4)],
  ]);
  const input = { time: 5, pods: [POD, { ...POD, uid: 'gone', cgroup: '/g' }], readings };
  const sample = computeUsageSample({ ...input, nodeDisk: { in: 6, out: 7 }, hasPressure: true });
  assert.deepEqual(sample.node.disk, { in: 6, out: 7 });
  assert.equal(sample.node.cpu, 100);
  assert.deepEqual(
    sample.pods.map(({ uid }) => uid),
    ['u'],
  );
  const [pod] = sample.pods;
  assert.deepEqual(
    [pod?.cpu, pod?.memory, pod?.network, pod?.disk, pod?.waiting],
    [10, 5, { in: 20, out: 30 }, { in: 4, out: 6 }, { cpu: 7, memory: 3, io: 1 }],
  );
  assert.deepEqual(
    pod?.containers.map(({ name, cpu }) => [name, cpu]),
    [['main', 8]],
  );
  const older = computeUsageSample({ ...input, nodeDisk: undefined, hasPressure: false });
  assert.equal(older.pods[0]?.waiting, undefined);
});

test('bytes of disks are those of whole disks', () => {
  const text = [
    '   8       0 sda 10 0 100 0 20 0 200 0 0 0 0',
    '   8       1 sda1 10 0 100 0 20 0 200 0 0 0 0',
    ' 254       0 vda 10 0 1 0 20 0 2 0 0 0 0',
    '   7       0 loop0 10 0 1000 0 20 0 2000 0 0 0 0',
    'garbage',
  ].join('\n');
  assert.deepEqual(parseDiskTransfer(text), { in: 101 * 512, out: 202 * 512 });
  assert.equal(parseDiskTransfer(undefined), undefined);
  assert.equal(parseDiskTransfer('8 0 sda x x x x x x x'), undefined);
});
