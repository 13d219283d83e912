import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { podUid } from '../api/ids.ts';
import { createFileCalls } from '../host/file-calls.ts';
import { createGuardedFiles } from '../host/guarded-files.ts';
import { createPodDirectories } from './pod-directories.ts';

const UID = podUid('uid');

async function scene(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'directories-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const directories = createPodDirectories({
    root,
    files: createGuardedFiles(createFileCalls()),
    randomName: () => '00c0ffee',
    removeTree: () => Promise.resolve(),
  });
  await directories.ensure(UID);
  return { directories, hosts: join(root, 'pods/uid/etc-hosts') };
}

test('the hosts file keeps its inode and is written only where it differs', async (t) => {
  const { directories, hosts } = await scene(t);
  await directories.writeHosts(UID, 'one\n');
  const { ino, mode } = statSync(hosts);
  assert.equal((mode & 0o777).toString(8), '644');
  for (const changed of ['longer than it was\n', '', 'tw\n', 'two\n']) {
    writeFileSync(hosts, changed);
    await directories.writeHosts(UID, 'two\n');
    assert.equal(readFileSync(hosts, 'utf8'), 'two\n');
  }
  const { mtimeNs } = statSync(hosts, { bigint: true });
  await directories.writeHosts(UID, 'two\n');
  assert.equal(statSync(hosts, { bigint: true }).mtimeNs, mtimeNs);
  assert.equal(statSync(hosts).ino, ino);
});

test('a hosts file that a container has made huge is not read', async (t) => {
  const { directories, hosts } = await scene(t);
  await directories.writeHosts(UID, 'one\n');
  truncateSync(hosts, 2 ** 42);
  await directories.writeHosts(UID, 'one\n');
  assert.equal(readFileSync(hosts, 'utf8'), 'one\n');
});

test('anything but a file is left alone', { timeout: 120_000 }, async (t) => {
  const { directories, hosts } = await scene(t);
  symlinkSync('/etc/passwd', hosts);
  await assert.rejects(directories.writeHosts(UID, 'x'), /is not a regular file/);
  rmSync(hosts);
  execFileSync('mkfifo', [hosts]);
  await assert.rejects(directories.writeHosts(UID, 'x'), /is not a regular file/);
});

test('any user may write the termination log, and what has its name already is left alone', async (t) => {
  const { directories } = await scene(t);
  const path = await directories.planTerminationLog(UID, 'c');
  await directories.createTerminationLog(path);
  assert.equal((statSync(path).mode & 0o777).toString(8), '666');
  await assert.rejects(directories.createTerminationLog(path), /EEXIST/);
});
