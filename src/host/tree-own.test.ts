import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { modeForGroup, needsNewOwner } from '../api/fs-group.ts';
import { createFileCalls, O_DIRECTORY } from './file-calls.ts';
import { measureTree } from './tree-measure.ts';
import { changeGroup, type GroupRequest } from './tree-own.ts';
import { removeTree } from './tree-remove.ts';

const calls = createFileCalls();

function drive<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'own-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const volume = join(directory, 'volume');
  mkdirSync(join(volume, 'sub'), { recursive: true, mode: 0o700 });
  writeFileSync(join(volume, 'private'), 'x', { mode: 0o600 });
  writeFileSync(join(volume, 'sub/open'), 'x', { mode: 0o644 });
  writeFileSync(join(directory, 'outside'), 'x', { mode: 0o600 });
  symlinkSync('../outside', join(volume, 'link'));
  const look = (name: string) => {
    const { mode, gid } = lstatSync(join(volume, name));
    return `${(mode & 0o7777).toString(8)} ${gid}`;
  };
  const change = (more: Partial<GroupRequest> = {}) =>
    drive(changeGroup(calls, { path: volume, gid: 3000, readOnly: false, policy: undefined, ...more }));
  return { directory, volume, look, change };
}

test('all files get the group and what it needs; links are not followed', (t) => {
  const { directory, look, change } = scene(t);
  assert.deepEqual(change(), { files: 5, failed: 0, firstFailure: undefined });
  assert.deepEqual(['', 'sub', 'private', 'sub/open', 'link'].map(look), [
    '2770 3000',
    '2770 3000',
    '660 3000',
    '664 3000',
    '777 3000',
  ]);
  const outside = lstatSync(join(directory, 'outside'));
  assert.deepEqual([outside.mode & 0o777, outside.gid], [0o600, 0]);
});

test('a read-only volume gets no right to write', (t) => {
  const { look, change } = scene(t);
  change({ readOnly: true });
  assert.deepEqual(['', 'private', 'sub/open'].map(look), ['2750 3000', '640 3000', '644 3000']);
});

test('OnRootMismatch believes a root that is right; Always does not', (t) => {
  const { volume, look, change } = scene(t);
  chownSync(volume, 0, 3000);
  chmodSync(volume, 0o2775);
  assert.equal(change({ policy: 'OnRootMismatch' }).files, 0);
  assert.equal(look('private'), '600 0');
  assert.equal(change({ policy: 'Always' }).files, 5);
  assert.equal(look('private'), '660 3000');
  for (const [mode, needs] of [
    [0o2770, false],
    [0o2777, false],
    [0o770, true],
    [0o2750, true],
    [0o2760, true],
  ] as const) {
    const request = { gid: 3000, readOnly: false, policy: 'OnRootMismatch' };
    assert.equal(needsNewOwner({ mode, gid: 3000, isDirectory: true }, request), needs, mode.toString(8));
    assert.equal(needsNewOwner({ mode, gid: 3001, isDirectory: true }, request), true);
  }
  assert.equal(modeForGroup({ mode: 0o100600, isDirectory: false }, false), 0o660);
});

test('a tree is measured in blocks and names; a file with two names counts once, what is behind links not', (t) => {
  const { volume } = scene(t);
  const before = drive(measureTree(calls, volume));
  assert.equal(before.inodes, 5);
  writeFileSync(join(volume, 'big'), Buffer.alloc(1024 * 1024, 1));
  linkSync(join(volume, 'big'), join(volume, 'sub/again'));
  const after = drive(measureTree(calls, volume));
  assert.equal(after.inodes, 6);
  assert.ok(after.bytes - before.bytes >= 1024 * 1024 && after.bytes - before.bytes < 1.2 * 1024 * 1024);
  assert.throws(() => drive(measureTree(calls, join(volume, 'missing'))), /ENOENT/);
});

test('all levels of a deep tree count, also those whose descriptors were closed on the way down', (t) => {
  const { volume } = scene(t);
  const before = drive(measureTree(calls, volume));
  const how = { flags: O_DIRECTORY, links: 'none', crossMounts: false } as const;
  let fd = openSync(volume, O_DIRECTORY);
  for (let depth = 0; depth < 3000; depth += 1) {
    calls.makeDirectory(fd, 'deeper', 0o755);
    calls.makeDirectory(fd, `side${depth}`, 0o755);
    const next = calls.openBelow(fd, 'deeper', how);
    closeSync(fd);
    fd = next;
  }
  writeFileSync(`/proc/self/fd/${fd}/big`, Buffer.alloc(1024 * 1024, 1));
  closeSync(fd);
  const after = drive(measureTree(calls, volume));
  assert.equal(after.inodes - before.inodes, 6001);
  assert.ok(after.bytes - before.bytes >= 1024 * 1024);
  for (const _ of removeTree(calls, volume));
});

test('a directory that is moved away under the walk does not lead it out of the tree, nor end it', (t) => {
  const { directory, volume } = scene(t);
  const inside = join(volume, ...Array.from({ length: 300 }, () => 'd'));
  mkdirSync(inside, { recursive: true });
  mkdirSync(join(directory, 'outside-tree/many'), { recursive: true });
  for (let index = 0; index < 500; index += 1) writeFileSync(join(directory, `outside-tree/many/${index}`), 'x');
  const walk = measureTree(calls, volume);
  const deepest = (name: string) => join(volume, ...Array.from({ length: 200 }, () => 'd'), name);
  let size: { readonly inodes: number } | undefined;
  for (let step = 0; size === undefined; step += 1) {
    // When the walk is at the bottom, a directory on its way back moves into another one.
    if (step === 306) renameSync(deepest('d'), join(directory, 'outside-tree/many/d'));
    const { done, value } = walk.next();
    if (done) size = value;
  }
  assert.ok(size.inodes < 200, `${size.inodes} inodes: files of another tree were counted`);
  assert.ok(size.inodes > 30, `${size.inodes} inodes: the walk ended early`);
});

test('names that are no text are measured and given to the group too', (t) => {
  const { volume, change } = scene(t);
  const name = Buffer.concat([Buffer.from(`${volume}/`), Buffer.from([0xff, 0x0a])]);
  writeFileSync(name, Buffer.alloc(1024 * 1024, 1));
  assert.equal(drive(measureTree(calls, volume)).inodes, 6);
  assert.deepEqual(change(), { files: 6, failed: 0, firstFailure: undefined });
  assert.equal(lstatSync(name).gid, 3000);
});
