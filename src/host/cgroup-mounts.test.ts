import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCgroupMounts } from './cgroup-mounts.ts';

const line = (mountPoint: string, type: string, options: string) =>
  `40 31 0:37 / ${mountPoint} rw,relatime shared:9 - ${type} ${type} ${options}`;

test('the first generation, beside one of the second', () => {
  const text = [
    line('/sys', 'sysfs', 'rw'),
    line('/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'rw,cpu,cpuacct'),
    line('/some/other/place/of/these/controllers', 'cgroup', 'rw,cpu,cpuacct'),
    line('/sys/fs/cgroup/memory', 'cgroup', 'rw,memory,clone_children'),
    line('/sys/fs/cgroup/systemd', 'cgroup', 'rw,xattr,release_agent=/x,name=systemd'),
    line('/sys/fs/cgroup/mine', 'cgroup', 'rw,name=mine'),
    line('/sys/fs/cgroup/unified', 'cgroup2', 'rw,nsdelegate'),
    '',
  ].join('\n');
  assert.deepEqual(parseCgroupMounts(text), [
    { version: 1, mountPoint: '/sys/fs/cgroup/cpu,cpuacct', controllers: ['cpu', 'cpuacct'] },
    { version: 1, mountPoint: '/sys/fs/cgroup/memory', controllers: ['memory'] },
    { version: 1, mountPoint: '/sys/fs/cgroup/systemd', controllers: [] },
    { version: 2, mountPoint: '/sys/fs/cgroup/unified', controllers: [] },
  ]);
});

test('the second generation alone, and a path with a blank', () => {
  assert.deepEqual(parseCgroupMounts(line('/sys/fs/my\\040groups', 'cgroup2', 'rw')), [
    { version: 2, mountPoint: '/sys/fs/my groups', controllers: [] },
  ]);
});

test('nothing at all', () => {
  assert.deepEqual(parseCgroupMounts(''), []);
});
