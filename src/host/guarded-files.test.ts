import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFileCalls } from './file-calls.ts';
import { createGuardedFiles, readTextBelow } from './guarded-files.ts';

const calls = createFileCalls();
const files = createGuardedFiles(calls);

function scene(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), 'guarded-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const root = join(dir, 'root');
  mkdirSync(join(root, 'pod/c'), { recursive: true });
  writeFileSync(join(dir, 'secret'), 'secret');
  writeFileSync(join(root, 'pod/c/plain'), 'last words');
  const at = (name: string) => join(root, 'pod/c', name);
  symlinkSync(join(dir, 'secret'), at('link-out'));
  symlinkSync('plain', at('link-inside'));
  symlinkSync('..', at('up'));
  symlinkSync(join(root, 'pod'), join(root, 'alias'));
  execFileSync('mkfifo', [at('pipe')]);
  execFileSync('mknod', [at('device'), 'c', '1', '5']); // zeros without end
  execFileSync('mknod', [at('nothing-there'), 'c', '240', '77']); // ENXIO on open
  return { directory: dir, root, at };
}

test('a regular file is read; links, pipes, devices and what is elsewhere are refused at once', {
  timeout: 120_000,
}, async (t) => {
  const { directory: dir, root, at } = scene(t);
  assert.deepEqual(await files.readTail(root, at('plain'), 5), { text: 'words', whole: false });
  assert.deepEqual(await files.readTail(root, at('plain'), 10), { text: 'last words', whole: true });
  for (const [path, problem] of [
    [at('pipe'), /is not a regular file/],
    [at('device'), /is not a regular file/],
    [at('nothing-there'), /is not a regular file/],
    [at('link-out'), /is not a regular file/],
    [at('link-inside'), /is not a regular file/],
    [join(root, 'pod/c'), /is not a regular file/],
    [join(root, 'alias/c/plain'), /ELOOP/],
    [at('up/c/plain'), /ELOOP/],
    [`${root}/pod/c/../../../secret`, /EXDEV/],
    [join(dir, 'secret'), /is not below/],
    [`${root}-other/plain`, /is not below/],
    [at('missing'), /ENOENT/],
    [at('plain\0'), /zero byte/],
  ] as const) {
    await assert.rejects(files.readTail(root, path, 100), problem, path);
    await assert.rejects(files.openToWrite(root, path), problem, path);
  }
  assert.equal(readFileSync(join(dir, 'secret'), 'utf8'), 'secret');
});

test('of a file of any size only the end is read', async (t) => {
  const { root, at } = scene(t);
  truncateSync(at('plain'), 2 ** 42);
  const before = process.memoryUsage().arrayBuffers;
  const { text } = await files.readTail(root, at('plain'), 4096);
  assert.equal(text, '\0'.repeat(4096));
  assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024);
  assert.throws(
    () => readTextBelow(calls, root, 'pod/c/plain', 1024),
    /has 4398046511104 bytes: at most 1024 are read/,
  );
});

/** A process that makes everybody who opens the file wait, for as long as the kernel lets it. */
const HOLD_LEASE = `
const { functions } = require('node:ffi').dlopen('libc.so.6', { fcntl: { arguments: ['i32', 'i32', 'i32'], return: 'i32' } });
const [F_SETLEASE, F_WRLCK] = [1024, 1];
process.on('SIGIO', () => undefined);
if (functions.fcntl(require('node:fs').openSync(process.argv[1], 'r'), F_SETLEASE, F_WRLCK) !== 0) process.exit(1);
console.log('held');
setTimeout(() => undefined, 60_000);
`;

test('a lease that a container holds on a file makes no one wait', { timeout: 120_000 }, async (t) => {
  const { root, at } = scene(t);
  const holder = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', HOLD_LEASE, at('plain')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  await assert.rejects(files.readTail(root, at('plain'), 100), /EAGAIN|EWOULDBLOCK/);
  assert.throws(() => readTextBelow(calls, root, 'pod/c/plain', 1024), /EAGAIN|EWOULDBLOCK/);
});

test('env files may be reached over links that stay in the volume, and nothing else', (t) => {
  const { root } = scene(t);
  const read = (path: string) => readTextBelow(calls, join(root, 'pod'), path, 1024);
  assert.equal(read('c/link-inside'), 'last words');
  assert.equal(read('c/up/c/plain'), 'last words');
  for (const path of ['c/link-out', 'c/pipe', 'c/device', '../../secret', 'c']) {
    assert.throws(() => read(path), /EXDEV|is not a regular file/, path);
  }
});

test('names of a directory stay in it, whatever takes its place', async (t) => {
  const { directory: dir, root, at } = scene(t);
  mkdirSync(join(dir, 'elsewhere'));
  writeFileSync(join(dir, 'elsewhere/plain'), 'of another');
  using held = files.directory(root, join(root, 'pod/c'));
  renameSync(join(root, 'pod/c'), join(root, 'pod/moved'));
  symlinkSync(join(dir, 'elsewhere'), join(root, 'pod/c'));
  await held.rename('plain', 'renamed');
  await held.remove('pipe');
  await held.remove('never there');
  assert.equal(await held.stat('plain'), undefined);
  assert.equal((await held.stat('link-out'))?.isSymbolicLink(), true);
  await assert.rejects(held.create('link-out', 0o600), /EEXIST/);
  await using made = await held.create('made', 0o600);
  await made.write('x');
  assert.deepEqual(readdirSync(join(dir, 'elsewhere')), ['plain']);
  assert.ok(readdirSync(join(root, 'pod/moved')).includes('made'));
  for (const name of ['', '.', '..', 'a/b', '../plain', 'a\0'])
    await assert.rejects(async () => held.open(name), /no name/);
  await assert.rejects(held.open('link-inside'), /is not a regular file/);
  await assert.rejects(held.names(3), /has more than 3 names/);
  assert.throws(() => files.directory(root, at('')), /ELOOP|ENOTDIR/);
});

test('nothing stays open', { timeout: 120_000 }, async (t) => {
  const { root, at } = scene(t);
  linkSync(at('plain'), at('other'));
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  for (const name of ['plain', 'pipe', 'device', 'link-out', 'missing', 'other']) {
    await files.readTail(root, at(name), 10).catch(() => undefined);
    using held = files.directory(root, join(root, 'pod/c'));
    await held.open(name).then(
      (file) => file.close(),
      () => undefined,
    );
  }
  assert.equal(open(), before);
});
