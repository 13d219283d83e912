import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTree, destroyTree, listTrees, parseHierarchies, processesIn, readHierarchies } from './cgroup-trees.ts';

const LAYOUTS = [
  {
    name: 'v2',
    mounts: 'cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate,memory_recursiveprot 0 0\n',
    expected: { mounts: ['/sys/fs/cgroup'], controllers: {}, unified: '/sys/fs/cgroup' },
  },
  {
    name: 'hybrid, as systemd mounts it',
    mounts: [
      'tmpfs /sys/fs/cgroup tmpfs ro,nosuid,nodev,noexec,mode=755 0 0',
      'cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0',
      'cgroup /sys/fs/cgroup/systemd cgroup rw,nosuid,nodev,noexec,relatime,xattr,name=systemd 0 0',
      'cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,nodev,noexec,relatime,cpu,cpuacct 0 0',
      'proc /proc proc rw 0 0',
    ].join('\n'),
    expected: {
      mounts: ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup/cpu,cpuacct', '/sys/fs/cgroup/unified'],
      controllers: { '/sys/fs/cgroup/systemd': 'name=systemd', '/sys/fs/cgroup/cpu,cpuacct': 'cpu,cpuacct' },
      unified: '/sys/fs/cgroup/unified',
    },
  },
] as const;

for (const { name, mounts, expected } of LAYOUTS) {
  test(`reads the hierarchies: ${name}`, () => {
    const { controllers, ...rest } = parseHierarchies(mounts);
    assert.deepEqual({ ...rest, controllers: Object.fromEntries(controllers) }, expected);
  });
}

for (const [name, mounts] of [
  ['nothing', ''],
  ['v1 only', 'cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0'],
  ['v2 elsewhere', 'cgroup2 /mnt/cgroup cgroup2 rw 0 0'],
] as const) {
  test(`refuses a machine with ${name}`, () => {
    assert.throws(() => parseHierarchies(mounts), /no cgroup2 mount/);
  });
}

test('destroys a tree with nested groups and processes that keep forking, in every hierarchy', async (t) => {
  const hierarchies = await readHierarchies();
  const name = `kubelet-ts-unit-${process.pid}`;
  await createTree(hierarchies, join(name, 'a', 'b'));
  const storm = spawn('sh', ['-c', 'read go; while :; do sleep 100 & sleep 0.01; done'], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  t.after(() => storm.kill('SIGKILL'));
  for (const mount of hierarchies.mounts) writeFileSync(join(mount, name, 'a', 'b', 'cgroup.procs'), String(storm.pid));
  storm.stdin.end('go\n');
  while ((await processesIn(hierarchies, name)).length < 5) await new Promise((resolve) => setTimeout(resolve, 10));
  const ended = once(storm, 'exit');
  await destroyTree(hierarchies, name);
  await ended;
  assert.deepEqual(await listTrees(hierarchies, name), []);
  for (const mount of hierarchies.mounts) assert.ok(!existsSync(join(mount, name)));
  await destroyTree(hierarchies, name); // a tree that is gone is fine
});
