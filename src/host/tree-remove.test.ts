import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
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
import { CodedError, codeOf } from '../base/errors.ts';
import { createFileCalls, type FileCalls, O_DIRECTORY } from './file-calls.ts';
import { readMountTable } from './mount-table.ts';
import { measureTree } from './tree-measure.ts';
import { removeTree } from './tree-remove.ts';

const calls = createFileCalls();

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'remove-'));
  const tree = join(directory, 'tree');
  const precious = join(directory, 'precious');
  mkdirSync(join(tree, 'a/b'), { recursive: true });
  mkdirSync(precious);
  writeFileSync(join(tree, 'a/b/f'), 'x');
  writeFileSync(join(precious, 'data'), 'years of work');
  t.after(() => {
    for (const { point } of readMountTable().toReversed()) if (point.startsWith(directory)) calls.unmount(point, true);
    rmSync(directory, { recursive: true, force: true });
  });
  const remove = () => {
    for (const _ of removeTree(calls, tree));
  };
  const isSafe = () => readFileSync(join(precious, 'data'), 'utf8') === 'years of work';
  return { directory, tree, precious, remove, isSafe };
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

for (const moment of [0, 1, 2]) {
  test(`a directory that is exchanged for a link after ${moment} steps of its removal leads nowhere`, (t) => {
    const { directory, tree, precious, isSafe } = scene(t);
    const steps = removeTree(calls, tree);
    for (let step = 0; step < moment; step += 1) steps.next();
    renameSync(join(tree, 'a'), join(directory, 'moved'));
    symlinkSync(precious, join(tree, 'a'));
    for (const _ of steps);
    assert.ok(!existsSync(tree));
    assert.ok(isSafe());
  });
}

/** Through descriptors no path gets long: each directory is made inside the one before. */
function makeDeep(tree: string, levels: number, each: (fd: number, depth: number) => void = () => undefined): void {
  const how = { flags: O_DIRECTORY, links: 'none', crossMounts: false } as const;
  let fd = openSync(tree, O_DIRECTORY);
  for (let depth = 0; depth < levels; depth += 1) {
    calls.makeDirectory(fd, 'deeper', 0o755);
    each(fd, depth);
    const next = calls.openBelow(fd, 'deeper', how);
    closeSync(fd);
    fd = next;
  }
  closeSync(fd);
}

const openDescriptors = () => readdirSync('/proc/self/fd').length;

test('a tree of 10,000 levels, with directories beside them, is removed without holding many descriptors', (t) => {
  const { tree } = scene(t);
  makeDeep(tree, 10_000, (fd, depth) => {
    if (depth % 50 === 0) calls.makeDirectory(fd, `side${depth}`, 0o755);
  });
  const before = openDescriptors();
  let most = 0;
  let steps = 0;
  for (const _ of removeTree(calls, tree)) {
    if (steps % 500 === 0) most = Math.max(most, openDescriptors());
    steps += 1;
  }
  assert.ok(!existsSync(tree));
  assert.ok(most - before < 300, `${most - before} descriptors`);
  assert.equal(openDescriptors(), before, 'no descriptor is left open');
});

test("names that a container guessed for what is moved aside are in no one's way", (t) => {
  const { tree, remove } = scene(t);
  makeDeep(tree, 450);
  for (let index = 0; index < 10; index += 1) {
    mkdirSync(join(tree, `..removed-${index}/full`), { recursive: true });
    writeFileSync(join(tree, `..removed-${index + 10}`), '');
  }
  remove();
  assert.ok(!existsSync(tree));
});

test('names that are no text', (t) => {
  const { tree, remove } = scene(t);
  const names = [[0xff], [0xc3, 0x28], [0x0a], [0x80, 0x81], [0x41, 0xe2, 0x82]].map((bytes) => Buffer.from(bytes));
  for (const name of names) {
    mkdirSync(Buffer.concat([Buffer.from(`${tree}/directory`), name]));
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/directory`), name, Buffer.from('/file'), name]), 'x');
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), name]), 'x');
  }
  remove();
  assert.ok(!existsSync(tree));
});

test('files and directories that must not be changed, or only grow', (t) => {
  const { tree, remove } = scene(t);
  writeFileSync(join(tree, 'a/log'), 'x');
  for (const [attribute, path] of [
    ['+i', 'a/b/f'],
    ['+a', 'a/log'],
    ['+i', 'a/b'],
    ['+a', 'a'],
    ['+i', ''],
  ] as const) {
    execFileSync('chattr', [attribute, join(tree, path)]);
  }
  t.after(() => existsSync(tree) && execFileSync('chattr', ['-R', '-ia', tree]));
  remove();
  assert.ok(!existsSync(tree));
});

test("what can't be removed is named, and the rest goes", (t) => {
  const { tree } = scene(t);
  writeFileSync(join(tree, 'a/other'), '');
  const refusing: FileCalls = {
    ...calls,
    removeName: (directory, name, what) => {
      if (name.toString() === 'f') throw new CodedError('internal', 'unlinkat f: EIO', { data: { name: 'EIO' } });
      calls.removeName(directory, name, what);
    },
  };
  assert.throws(() => {
    for (const _ of removeTree(refusing, tree));
  }, /can't be removed: .*\/tree\/a\/b\/f stays/);
  assert.deepEqual(readdirSync(tree, { recursive: true }).sort(), ['a', 'a/b', 'a/b/f']);
});

test('a flat directory of 100,000 names is read in pieces', (t) => {
  const { tree } = scene(t);
  for (let index = 0; index < 100_000; index += 1) symlinkSync('x', join(tree, `${index}`));
  let most = 0;
  const counting: FileCalls = {
    ...calls,
    readNames: (directory) => {
      const names = calls.readNames(directory);
      most = Math.max(most, names.length);
      return names;
    },
  };
  for (const _ of measureTree(counting, tree));
  for (const _ of removeTree(counting, tree));
  assert.ok(!existsSync(tree));
  assert.ok(most > 0 && most < 2000, `${most} names at once`);
});
