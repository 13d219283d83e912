import assert from 'node:assert/strict';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { codeOf } from '../base/errors.ts';
import { createFileCalls, O_DIRECTORY } from './file-calls.ts';
import { readMountTable } from './mount-table.ts';
import { removeTree } from './tree-remove.ts';

const calls = createFileCalls();

function scene(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'remove-'));
  const tree = join(folder, 'tree');
  const precious = join(folder, 'precious');
  mkdirSync(join(tree, 'a/b'), { recursive: true });
  mkdirSync(precious);
  writeFileSync(join(tree, 'a/b/f'), 'x');
  writeFileSync(join(precious, 'data'), 'years of work');
  t.after(() => {
    for (const { point } of readMountTable().toReversed()) if (point.startsWith(folder)) calls.unmount(point, true);
    rmSync(folder, { recursive: true, force: true });
  });
  const remove = () => {
    for (const _ of removeTree(calls, tree));
  };
  const isSafe = () => readFileSync(join(precious, 'data'), 'utf8') === 'years of work';
  return { folder, tree, precious, remove, isSafe };
}

test('a tree goes whole; links are removed, not followed; what is missing is fine', (t) => {
  const { tree, precious, remove, isSafe } = scene(t);
  symlinkSync(precious, join(tree, 'link'));
  symlinkSync(join(precious, 'data'), join(tree, 'a/link'));
  remove();
  assert.ok(!existsSync(tree));
  assert.ok(isSafe());
  remove();
});

test('the root itself may be a link or a file', (t) => {
  const { tree, precious, remove, isSafe } = scene(t);
  rmSync(tree, { recursive: true });
  symlinkSync(precious, tree);
  remove();
  assert.ok(!existsSync(tree));
  assert.ok(isSafe());
  writeFileSync(tree, '');
  remove();
  assert.ok(!existsSync(tree));
});

test('something mounted below stops it, and nothing behind the mount is touched', (t) => {
  const { tree, precious, remove, isSafe } = scene(t);
  calls.bind(precious, join(tree, 'a/b'));
  assert.throws(
    remove,
    (error) => codeOf(error) === 'conflict' && /something is mounted at .*a\/b/.test(String(error)),
  );
  assert.ok(isSafe());
  calls.unmount(join(tree, 'a/b'), false);
  remove();
  assert.ok(!existsSync(tree));
  assert.ok(isSafe());
});

test('a mounted file and a mount at the root of the tree stop it too', (t) => {
  const { tree, precious, remove, isSafe } = scene(t);
  calls.bind(join(precious, 'data'), join(tree, 'a/b/f'));
  assert.throws(remove, /something is mounted/);
  calls.unmount(join(tree, 'a/b/f'), false);
  mkdirSync(tree, { recursive: true });
  calls.bind(precious, tree);
  assert.throws(remove, /something is mounted/);
  assert.ok(isSafe());
});

test('a mount that comes while it is removed, at every moment, loses nothing', (t) => {
  const { tree, precious, isSafe } = scene(t);
  for (let moment = 0; moment < 12; moment += 1) {
    mkdirSync(join(tree, 'a/b/c'), { recursive: true });
    for (const name of ['1', '2', 'a/1', 'a/b/1', 'a/b/c/1']) writeFileSync(join(tree, name), '');
    const steps = removeTree(calls, tree);
    for (let step = 0; step < moment; step += 1) steps.next();
    const targets = ['a/b/c', 'a/b', 'a', ''].map((name) => join(tree, name)).filter((path) => existsSync(path));
    for (const target of targets) calls.bind(precious, target);
    try {
      for (const _ of steps);
    } catch (error) {
      assert.equal(codeOf(error), 'conflict', String(error));
    }
    assert.ok(isSafe(), `after ${moment} steps`);
    for (const { point } of readMountTable().toReversed()) if (point.startsWith(tree)) calls.unmount(point, true);
    for (const _ of removeTree(calls, tree));
    assert.ok(!existsSync(tree));
  }
});

test('a folder that is exchanged for a link while it is removed leads nowhere', (t) => {
  const { folder, tree, precious, isSafe } = scene(t);
  const steps = removeTree(calls, tree);
  steps.next();
  // Before its turn comes, `a` becomes a link to the precious folder.
  renameSync(join(tree, 'a'), join(folder, 'moved'));
  symlinkSync(precious, join(tree, 'a'));
  assert.throws(() => {
    for (const _ of steps);
  }, /ELOOP|ENOTDIR/);
  assert.ok(isSafe());
  for (const _ of removeTree(calls, tree));
  assert.ok(isSafe());
});

test('a tree deeper than paths can say, with many names', (t) => {
  const { tree, remove } = scene(t);
  // Through /proc/self/fd no path gets long: each folder is made inside the one before.
  const how = { flags: O_DIRECTORY, links: 'none', crossMounts: false } as const;
  let fd = openSync(tree, O_DIRECTORY);
  for (let depth = 0; depth < 500; depth += 1) {
    calls.makeDirectory(fd, 'deeper', 0o755);
    const next = calls.openBelow(fd, 'deeper', how);
    calls.makeDirectory(fd, `side${depth}`, 0o755);
    closeSync(fd);
    fd = next;
  }
  closeSync(fd);
  for (let index = 0; index < 100; index += 1) writeFileSync(join(tree, `f${index}`), '');
  const before = readdirSync('/proc/self/fd').length;
  remove();
  assert.ok(!existsSync(tree));
  assert.equal(readdirSync('/proc/self/fd').length, before, 'no descriptor is left open');
});
