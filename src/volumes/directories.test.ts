import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { CodedError, codeOf } from '../base/errors.ts';
import { createFileCalls } from '../host/file-calls.ts';
import { createFileJobs } from '../host/file-jobs.ts';
import { mountAt, readMountTable } from '../host/mount-table.ts';
import { createDirectories } from './directories.ts';

const calls = createFileCalls();
const never = new AbortController().signal;

function scene(t: TestContext, overrides: Partial<typeof calls> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'directories-'));
  const swappable: true[] = [];
  const jobs = createFileJobs({ clock: createSystemClock(), calls, program: undefined });
  const directories = createDirectories({
    calls: { ...calls, ...overrides },
    jobs,
    mountTable: readMountTable,
    onSwappable: () => void swappable.push(true),
  });
  t.after(() => {
    for (const { point } of readMountTable().toReversed()) if (point.startsWith(root)) calls.unmount(point, true);
    rmSync(root, { recursive: true, force: true });
  });
  const directory = (plugin: string, name: string) => join(root, 'volumes', plugin, name);
  return { root, directories, directory, swappable };
}

const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);

test('a plain directory is made once; from then on its mode is its own', async (t) => {
  const { root, directories, directory } = scene(t);
  const path = directory('kubernetes.io~empty-dir', 'e');
  let finished = 0;
  const finish = () => {
    finished += 1;
    return Promise.resolve();
  };
  await directories.ensure({ directory: path, medium: 'disk', finish }, never);
  assert.equal(mode(path), '777');
  assert.equal(mode(join(root, 'plugins/kubernetes.io~empty-dir/e')), '750');
  chmodSync(path, 0o700);
  writeFileSync(join(path, 'f'), 'x');
  await directories.ensure({ directory: path, medium: 'disk', finish }, never);
  assert.equal(mode(path), '700');
  assert.equal(finished, 1);
  await directories.remove(path, never);
  assert.ok(!existsSync(path) && !existsSync(join(root, 'plugins/kubernetes.io~empty-dir')));
  await directories.remove(path, never);
});

test('a directory that is not finished is finished the next time; one that was lost is made again', async (t) => {
  const { directories, directory } = scene(t);
  const path = directory('kubernetes.io~empty-dir', 'e');
  const failing = () => Promise.reject(new CodedError('denied', 'not now'));
  await assert.rejects(directories.ensure({ directory: path, medium: 'disk', finish: failing }, never), /not now/);
  let finished = false;
  const finish = () => {
    finished = true;
    return Promise.resolve();
  };
  await directories.ensure({ directory: path, medium: 'disk', finish }, never);
  assert.ok(finished);
  rmSync(path, { recursive: true });
  await directories.ensure({ directory: path, medium: 'disk' }, never);
  assert.equal(mode(path), '777');
});

test('memory: a tmpfs of its size, without swap, mounted once, and again after a reboot', async (t) => {
  const { root, directories, directory } = scene(t);
  const path = directory('kubernetes.io~secret', 's');
  const request = { directory: path, medium: 'memory', sizeBytes: 8 * 1024 * 1024 } as const;
  await directories.ensure(request, never);
  await directories.ensure(request, never);
  const mounts = readMountTable().filter(({ point }) => point === path);
  assert.equal(mounts.length, 1);
  assert.match(mounts[0]?.superOptions ?? '', /size=8192k/);
  assert.equal(mode(path), '1777');
  assert.ok(existsSync(join(root, 'plugins/kubernetes.io~empty-dir/wrapped_s/ready')));
  calls.unmount(path, false);
  await directories.ensure(request, never);
  assert.equal(mountAt(readMountTable(), path)?.type, 'tmpfs');
  await directories.remove(path, never);
  assert.equal(mountAt(readMountTable(), path), undefined);
});

test('a kernel that does not know noswap gets the mount without it, and that is reported once', async (t) => {
  const options: string[] = [];
  const { directories, directory, swappable } = scene(t, {
    mount: (request) => {
      options.push(request.data);
      if (request.data.includes('noswap')) throw new CodedError('invalid', 'mount', { data: { name: 'EINVAL' } });
      calls.mount(request);
    },
  });
  await directories.ensure({ directory: directory('p', 'a'), medium: 'memory', sizeBytes: 4096 }, never);
  await directories.ensure({ directory: directory('p', 'b'), medium: 'memory' }, never);
  assert.deepEqual(options, ['size=4096,noswap', 'size=4096', '']);
  assert.equal(swappable.length, 1);
});

test('huge pages are a hugetlbfs of the page size', async (t) => {
  const { directories, directory } = scene(t);
  const path = directory('kubernetes.io~empty-dir', 'h');
  await directories.ensure({ directory: path, medium: 'huge-pages', pageSize: '2Mi' }, never);
  const entry = mountAt(readMountTable(), path);
  assert.equal(entry?.type, 'hugetlbfs');
  assert.match(entry?.superOptions ?? '', /pagesize=2M/);
  await directories.remove(path, never);
  assert.ok(!existsSync(path));
});

test('what is mounted below is named and left alone', async (t) => {
  const { root, directories, directory } = scene(t);
  const path = directory('kubernetes.io~empty-dir', 'e');
  const precious = join(root, 'precious');
  mkdirSync(precious);
  writeFileSync(join(precious, 'data'), 'x');
  for (const medium of ['disk', 'memory'] as const) {
    await directories.ensure({ directory: path, medium }, never);
    mkdirSync(join(path, 'sub'));
    calls.bind(precious, join(path, 'sub'));
    await assert.rejects(
      directories.remove(path, never),
      (error) => codeOf(error) === 'conflict' && /sub/.test(String(error)),
    );
    assert.ok(existsSync(join(precious, 'data')));
    calls.unmount(join(path, 'sub'), false);
    await directories.remove(path, never);
  }
  assert.ok(existsSync(join(precious, 'data')));
});

test('several mounts on one directory go with one look at the mounts, also where one went by itself', async (t) => {
  let looks = 0;
  let unmounts = 0;
  const { root, directories, directory } = scene(t, {
    unmount: (target, lazy) => {
      // Another process unmounts it first.
      if (unmounts === 0) calls.unmount(target, lazy);
      unmounts += 1;
      calls.unmount(target, lazy);
    },
  });
  const jobs = createFileJobs({ clock: createSystemClock(), calls, program: undefined });
  const counting = createDirectories({
    calls: { mount: calls.mount, unmount: calls.unmount },
    jobs,
    mountTable: (about) => {
      looks += 1;
      return readMountTable(about);
    },
    onSwappable: () => undefined,
  });
  const path = directory('kubernetes.io~empty-dir', 'm');
  const again = () => calls.mount({ source: 'tmpfs', target: path, type: 'tmpfs', data: '' });
  for (const remove of [counting.remove, directories.remove]) {
    await directories.ensure({ directory: path, medium: 'memory' }, never);
    again();
    again();
    await remove(path, never);
    assert.ok(!existsSync(path));
    assert.equal(readMountTable().filter(({ point }) => point.startsWith(root)).length, 0);
  }
  assert.equal(looks, 1);
});
