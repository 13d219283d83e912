import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import { createFileCalls } from './file-calls.ts';
import { createFileJobs } from './file-jobs.ts';
import { FILE_PROCESS_ARGUMENT } from './file-process-argument.ts';
import { leadsToForeign } from './foreign-path.ts';
import { isForeign, mountAt, mountOf, mountsBelow, parseMountTable } from './mount-table.ts';

const never = new AbortController().signal;

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'jobs-'));
  const main = resolve(import.meta.dirname, '../main.ts');
  const args = ['--disable-warning=ExperimentalWarning', main, FILE_PROCESS_ARGUMENT];
  const jobs = createFileJobs({
    clock: createSystemClock(),
    calls: createFileCalls(),
    program: { path: process.execPath, args },
  });
  t.after(() => {
    jobs.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, jobs };
}

const children = () =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).length;

test('small jobs are done here, large ones in a process that goes when it is idle', { timeout: 120_000 }, async (t) => {
  const { directory, jobs } = scene(t);
  const limits = { foreign: false, signal: never };
  writeFileSync(join(directory, 'f'), 'x'.repeat(10_000));
  const small = await jobs.run({ kind: 'measure', path: directory }, limits);
  assert.equal(small.inodesUsed, 2);
  assert.ok(small.usedBytes >= 10_000 && small.capacityBytes > small.usedBytes && small.inodes >= 0);
  assert.equal(children(), 0);
  const tree = join(directory, 'tree');
  mkdirSync(tree);
  for (let index = 0; index < 3500; index += 1) symlinkSync('x', join(tree, `l${index}`));
  assert.equal((await jobs.run({ kind: 'measure', path: tree }, limits)).inodesUsed, 3501);
  assert.equal(children(), 1);
  await jobs.run({ kind: 'remove', path: tree }, limits);
  assert.ok(!existsSync(tree));
  assert.equal(children(), 1, 'the same process');
  const began = performance.now();
  while (children() > 0 && performance.now() - began < 20_000) await new Promise((wait) => setTimeout(wait, 50));
  assert.equal(children(), 0);
});

test('errors come back with their code; a job in a process that is cut off ends it', {
  timeout: 120_000,
}, async (t) => {
  const { directory, jobs } = scene(t);
  const away = { foreign: true, signal: never };
  assert.equal(await jobs.run({ kind: 'look', path: directory, make: undefined }, away), 'directory');
  assert.equal(await jobs.run({ kind: 'look', path: join(directory, 'n/e/w'), make: 'directory' }, away), 'directory');
  assert.equal(await jobs.run({ kind: 'look', path: join(directory, 'file'), make: 'file' }, away), 'file');
  await assert.rejects(jobs.run({ kind: 'look', path: join(directory, 'no/file'), make: 'file' }, away), /ENOENT/);
  const target = join(directory, 'target');
  symlinkSync('/etc', join(directory, 'link'));
  const bind = { kind: 'bind-sub-path', volumePath: directory, subPath: 'link/passwd', target } as const;
  await assert.rejects(jobs.run(bind, away), (error) => codeOf(error) !== 'unavailable' && /EXDEV/.test(String(error)));
  const request = { kind: 'look', path: join(directory, 'missing'), make: 'file' } as const;
  const stop = new AbortController();
  const cut = jobs.run(request, { foreign: true, signal: stop.signal });
  stop.abort(new Error('no longer wanted'));
  await assert.rejects(cut, /no longer wanted/);
  await assert.rejects(
    jobs.run(request, { foreign: true, signal: never, deadlineMs: 0 }),
    (e) => codeOf(e) === 'deadline',
  );
  assert.equal(
    await jobs.run({ kind: 'look', path: directory, make: undefined }, away),
    'directory',
    'the next one is fine',
  );
});

test('a file of a volume is read, and nothing that is no file of it', async (t) => {
  const { directory, jobs } = scene(t);
  writeFileSync(join(directory, 'env'), 'A=1\n');
  symlinkSync('env', join(directory, 'inside'));
  symlinkSync('/etc/passwd', join(directory, 'outside'));
  symlinkSync('/proc/self/environ', join(directory, 'magic'));
  spawnSync('mkfifo', [join(directory, 'pipe')]);
  writeFileSync(join(directory, 'large'), Buffer.alloc(1024 * 1024 + 1));
  const read = (file: string) => jobs.run({ kind: 'read', path: directory, file }, { foreign: false, signal: never });
  assert.equal(await read('env'), 'A=1\n');
  assert.equal(await read('inside'), 'A=1\n');
  for (const [file, error] of [
    ['outside', /EXDEV/],
    ['magic', /EXDEV|ELOOP/],
    ['../env', /EXDEV/],
    ['pipe', /is not a regular file/],
    ['.', /is not a regular file/],
    ['large', /at most 1048576 are read/],
    ['missing', /ENOENT/],
  ] as const) {
    await assert.rejects(read(file), error, file);
  }
});

test('without a program of its own everything is done here', async (t) => {
  const { directory } = scene(t);
  const jobs = createFileJobs({ clock: createSystemClock(), calls: createFileCalls(), program: undefined });
  for (let index = 0; index < 3200; index += 1) symlinkSync('x', join(directory, `l${index}`));
  await jobs.run({ kind: 'remove', path: directory }, { foreign: true, signal: never });
  assert.ok(!existsSync(directory));
  assert.equal(children(), 0);
});

const TABLE = parseMountTable(
  [
    '22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw',
    '30 22 0:25 / /mnt/with\\040space rw - nfs4 server:/x rw,vers=4.2',
    '31 22 0:26 / /a rw - tmpfs tmpfs rw,size=8192k',
    '32 31 8:1 /x /a/b rw master:1 - ext4 /dev/sda1 rw',
    '33 22 0:27 / /a rw - fuse.sshfs s rw',
  ].join('\n'),
);

test('the mount table says what is mounted where, hidden mounts too', () => {
  assert.equal(mountAt(TABLE, '/a')?.type, 'fuse.sshfs');
  assert.deepEqual(
    mountsBelow(TABLE, '/a').map(({ point }) => point),
    ['/a/b'],
  );
  assert.equal(mountOf(TABLE, '/mnt/with space/x')?.id, 30);
  assert.equal(mountOf(TABLE, '/mnt/with')?.id, 22);
  assert.deepEqual(
    TABLE.map((entry) => isForeign(entry)),
    [false, true, false, false, true],
  );
  assert.equal(parseMountTable('').length, 0);
});

test('a path that leads over a foreign mount is known without touching it', (t) => {
  const { directory } = scene(t);
  mkdirSync(join(directory, 'real'));
  symlinkSync('real/hung/deeper', join(directory, 'link'));
  symlinkSync('link', join(directory, 'link2'));
  symlinkSync('loop', join(directory, 'loop'));
  const table = [
    ...parseMountTable('22 1 8:1 / / rw - ext4 /dev/sda1 rw'),
    ...parseMountTable(`40 22 0:30 / ${directory}/real/hung rw - fuse x rw`),
  ];
  // The mount is not really there: a job that touched the path would find nothing at all.
  for (const [path, foreign] of [
    ['real', false],
    ['real/hung', true],
    ['real/hung/x', true],
    ['link', true],
    ['link2/y', true],
    ['missing/z', false],
    ['loop', false],
  ] as const) {
    assert.equal(leadsToForeign(table, join(directory, path)), foreign, path);
  }
  assert.deepEqual(readdirSync(join(directory, 'real')), []);
});
