/** On the cgroups of this machine, below one of the test's own in each hierarchy. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type CgroupHierarchy, parseCgroupMounts } from './cgroup-mounts.ts';
import { type Cgroups, createCgroups } from './cgroups.ts';

const hierarchies = parseCgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));

function ownRoot(t: TestContext, cgroups: Cgroups, name: string): string {
  const root = `/kubelet-ts-test-${process.pid}-${name}`;
  t.after(async () => {
    await cgroups.kill(root);
    assert.equal(await cgroups.remove(root), true);
  });
  cgroups.create(root);
  return root;
}

const directoryFor = (controller: string): CgroupHierarchy =>
  hierarchies.find(({ controllers }) => controllers.includes(controller)) ??
  hierarchies.find(({ version }) => version === 2) ??
  assert.fail(`no hierarchy for ${controller}`);

const read = (controller: string, path: string, file: string) =>
  readFileSync(join(directoryFor(controller).mountPoint, path, file), 'utf8').trim();

test('a cgroup is made in every hierarchy with all above it, and removed again', async (t) => {
  const cgroups = createCgroups(hierarchies);
  const root = ownRoot(t, cgroups, 'tree');
  const leaf = `${root}/a/b`;
  assert.equal(cgroups.exists(leaf), false);
  cgroups.create(leaf);
  cgroups.create(leaf);
  assert.equal(cgroups.exists(leaf), true);
  for (const { mountPoint } of hierarchies) assert.ok(existsSync(join(mountPoint, leaf)), mountPoint);
  assert.deepEqual(await cgroups.children(root), ['a']);
  assert.equal(await cgroups.remove(`${root}/a`), true);
  assert.equal(cgroups.exists(leaf), false);
  assert.deepEqual(await cgroups.children(`${root}/nothing`), []);
  assert.equal(await cgroups.remove(`${root}/nothing`), true);
});

test('values arrive in the kernel, whatever their order', (t) => {
  const cgroups = createCgroups(hierarchies);
  const root = ownRoot(t, cgroups, 'values');
  cgroups.create(`${root}/a`);
  assert.deepEqual(cgroups.write(`${root}/a`, [{ file: 'pids.max', value: '17' }]), []);
  assert.equal(read('pids', `${root}/a`, 'pids.max'), '17');
  assert.deepEqual(
    cgroups.write(`${root}/a`, [
      { file: 'pids.tomorrow', value: '1' },
      { file: 'pids.older', value: '1', optional: true },
    ]),
    ['pids.tomorrow'],
  );
  assert.throws(
    () => cgroups.write(`${root}/a`, [{ file: 'pids.max', value: 'many' }]),
    /can't write many to .*pids\.max/,
  );
  assert.throws(() => cgroups.write(`${root}/gone`, [{ file: 'pids.max', value: '1' }]), /can't write 1 to .*gone/);
});

test('a period that its old quota forbids is written after the quota', (t) => {
  const cgroups = createCgroups(hierarchies);
  if (cgroups.version !== 1) return;
  const root = ownRoot(t, cgroups, 'order');
  const path = `${root}/a`;
  cgroups.create(path);
  cgroups.write(root, [{ file: 'cpu.cfs_quota_us', value: '50000' }]);
  cgroups.write(path, [{ file: 'cpu.cfs_quota_us', value: '50000' }]);
  cgroups.write(path, [
    { file: 'cpu.cfs_period_us', value: '10000' },
    { file: 'cpu.cfs_quota_us', value: '5000' },
  ]);
  assert.deepEqual([read('cpu', path, 'cpu.cfs_period_us'), read('cpu', path, 'cpu.cfs_quota_us')], ['10000', '5000']);
});

test('processes hold a cgroup until they are killed', async (t) => {
  const cgroups = createCgroups(hierarchies);
  const root = ownRoot(t, cgroups, 'kill');
  const leaf = `${root}/pod/container`;
  cgroups.create(leaf);
  const sleeper = spawn('sleep', ['1000']);
  const ended = once(sleeper, 'exit');
  t.after(() => sleeper.kill('SIGKILL'));
  for (const { mountPoint } of hierarchies) {
    writeFileSync(join(mountPoint, leaf, 'cgroup.procs'), String(sleeper.pid));
  }
  assert.equal(await cgroups.remove(`${root}/pod`), false);
  assert.equal(await cgroups.kill(`${root}/pod`), 1);
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.equal(await cgroups.kill(`${root}/pod`), 0);
  assert.equal(await cgroups.remove(`${root}/pod`), true);
});

test('the second generation by itself passes its controllers on', async (t) => {
  const unified = hierarchies.filter(({ version }) => version === 2);
  if (unified.length === 0) return;
  const cgroups = createCgroups(unified);
  assert.equal(cgroups.version, 2);
  const root = ownRoot(t, cgroups, 'unified');
  cgroups.create(`${root}/a/b`);
  assert.equal(cgroups.exists(`${root}/a/b`), true);
  const own = readFileSync(join(unified[0]?.mountPoint ?? '', root, 'a/b/cgroup.controllers'), 'utf8')
    .trim()
    .split(' ');
  assert.deepEqual(new Set(own), await cgroups.controllers());
});

test('a machine without cgroups is refused', () => {
  assert.throws(() => createCgroups([]), /no cgroup hierarchy is mounted/);
});

test('a process is moved in every hierarchy, and its memory is counted there', async (t) => {
  const cgroups = createCgroups(hierarchies);
  const root = ownRoot(t, cgroups, 'enter');
  cgroups.create(`${root}/a`);
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  assert.deepEqual(await cgroups.processes(`${root}/a`), []);
  assert.equal(cgroups.enter(`${root}/a`, pid), true);
  assert.deepEqual(await cgroups.processes(`${root}/a`), [pid]);
  assert.deepEqual(await cgroups.processes(root), []);
  writeFileSync(join(directoryFor('pids').mountPoint, root, 'cgroup.procs'), String(pid));
  if (hierarchies.length > 1) assert.deepEqual(await cgroups.processes(`${root}/a`), [], 'not in all of them');
  assert.equal(typeof (await cgroups.memoryUsage(root)), 'bigint');
  assert.equal(await cgroups.memoryUsage(`${root}/none`), undefined);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  assert.equal(cgroups.enter(`${root}/a`, pid), false);
});
