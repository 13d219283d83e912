import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createFileCalls } from './file-calls.ts';
import { mountAt, readMountTable } from './mount-table.ts';
import { bindSubPath } from './sub-path.ts';

const calls = createFileCalls();

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'sub-path-'));
  const volume = join(directory, 'volume');
  const secret = join(directory, 'secret');
  mkdirSync(join(volume, 'a/b'), { recursive: true });
  mkdirSync(secret);
  writeFileSync(join(volume, 'a/f'), 'inside');
  writeFileSync(join(secret, 'f'), 'outside');
  t.after(() => {
    for (const { point } of readMountTable().toReversed()) if (point.startsWith(directory)) calls.unmount(point, true);
    rmSync(directory, { recursive: true, force: true });
  });
  const target = join(directory, 'pod/volume-subpaths/v/c/0');
  const bind = (subPath: string) => bindSubPath(calls, { volumePath: volume, subPath, target });
  return { directory, volume, secret, target, bind };
}

test('directories and files are mounted, missing directories made with the mode of the volume', (t) => {
  const { volume, target, bind } = scene(t);
  bind('a');
  assert.equal(readFileSync(join(target, 'f'), 'utf8'), 'inside');
  assert.equal(statSync(join(target, '..')).mode & 0o7777, 0o750);
  const { dev, ino } = statSync(target);
  bind('a');
  assert.deepEqual([statSync(target).dev, statSync(target).ino], [dev, ino]);
  assert.equal(readMountTable().filter(({ point }) => point === target).length, 1, 'mounted once');
  bind('a/f');
  assert.equal(readFileSync(target, 'utf8'), 'inside', 'a directory becomes a file');
  calls.unmount(target, false);
  for (const mode of [0o777, 0o2770, 0o1777]) {
    rmSync(join(volume, 'x'), { recursive: true, force: true });
    chmodSync(volume, mode);
    bind('x//y/./z/');
    for (const name of ['x', 'x/y', 'x/y/z']) assert.equal(lstatSync(join(volume, name)).mode & 0o7777, mode, name);
    calls.unmount(target, false);
  }
});

test('links inside the volume are followed, those that lead out are not', (t) => {
  const { volume, secret, target, bind } = scene(t);
  symlinkSync('..data/f', join(volume, 'f'));
  symlinkSync('a', join(volume, '..data'));
  bind('f');
  assert.equal(readFileSync(target, 'utf8'), 'inside');
  calls.unmount(target, false);
  const links: readonly (readonly [string, string])[] = [
    ['absolute', secret],
    ['up', '../secret'],
    ['up-file', '../secret/f'],
    ['magic', '/proc/self/root'],
    ['chain', 'absolute'],
    ['dangling', '../nowhere'],
    ['loop', 'loop'],
  ];
  for (const [name, to] of links) {
    symlinkSync(to, join(volume, name));
    for (const subPath of [name, `${name}/f`, `${name}/new/er`]) {
      assert.throws(() => bind(subPath), /EXDEV|ELOOP|ENOTDIR|EEXIST/, subPath);
      assert.equal(mountAt(readMountTable(), target), undefined, subPath);
    }
  }
  assert.throws(() => lstatSync(join(secret, 'new')), /ENOENT/, 'nothing was made outside');
  assert.throws(() => lstatSync(join(volume, '../nowhere')), /ENOENT/);
});

test('a container that replaces a directory by a link all the time gets only its own files', {
  timeout: 120_000,
}, async (t) => {
  const { volume, secret, target, bind } = scene(t);
  mkdirSync(join(volume, 'swap'));
  writeFileSync(join(volume, 'swap/f'), 'inside');
  // As fast as the kernel lets it: the directory goes aside, a link to the secret takes its place, and back.
  const attacker = new Worker(
    `const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
     const [swap, spare, secret] = require('node:worker_threads').workerData;
     const attempt = (change) => { try { change(); return true; } catch { return false; } };
     for (;;) {
       attempt(() => renameSync(swap, spare));
       attempt(() => symlinkSync(secret, swap));
       attempt(() => unlinkSync(swap));
       if (!attempt(() => renameSync(spare, swap))) attempt(() => rmSync(swap, { recursive: true }));
     }`,
    { eval: true, workerData: [join(volume, 'swap'), join(volume, 'spare'), secret] },
  );
  t.after(() => attacker.terminate());
  const seen = new Set<string>();
  const isRace = () => seen.has('inside') && [...seen].some((one) => one.startsWith('E'));
  const began = performance.now();
  const lasted = () => performance.now() - began;
  for (let count = 0; lasted() < 2000 || (!isRace() && lasted() < 20_000); count += 1) {
    try {
      bind(count % 2 === 0 ? 'swap/f' : 'swap/made/here');
      seen.add(statSync(target).isFile() ? readFileSync(target, 'utf8') : 'directory');
      calls.unmount(target, false);
    } catch (error) {
      seen.add(String(/E[A-Z]+/.exec(String(error))?.[0]));
    }
    if (count % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await attacker.terminate();
  assert.ok(!seen.has('outside'), [...seen].join());
  assert.ok(isRace(), `a real race: ${[...seen].join()}`);
  assert.throws(() => lstatSync(join(secret, 'made')), /ENOENT/);
});
