import assert from 'node:assert/strict';
import { chmod, chown, lstat, mkdir, readlink, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createSystemClock } from '../base/clock.ts';
import { codeOf, describeError } from '../base/errors.ts';
import { payloadOf, testDirectory, treeOf, visibleFiles } from './atomic-testing.ts';
import { type AtomicWriter, createAtomicWriter } from './atomic-writer.ts';
import type { Payload } from './rules/payload.ts';

const signal = new AbortController().signal;
let random = 0;
/** Time stands still but for waits, which take none. */
const clock = { ...createSystemClock(), sleep: () => Promise.resolve() };
const newWriter = (): AtomicWriter => createAtomicWriter({ clock, random: () => ++random });

/** What must not change when nothing is written. */
async function identity(directory: string): Promise<readonly unknown[]> {
  const [dir, link] = await Promise.all([lstat(directory), lstat(join(directory, '..data'))]);
  return [dir.ctimeMs, link.ino, await readlink(join(directory, '..data'))];
}

for (const medium of ['disk', 'memory'] as const) {
  const write = (writer: AtomicWriter, directory: string, payload: Payload) =>
    writer.write({ directory, payload, fsGroup: undefined, medium }, signal);

  describe(`files that change all at once, on ${medium}`, () => {
    test('the first files', async () => {
      await using dir = await testDirectory();
      const writer = newWriter();
      await write(writer, dir.path, payloadOf({ color: 'blue', 'etc/app.conf': 'a=1', 'etc/deep/x': '' }, 0o640));
      assert.deepEqual(await treeOf(dir.path), [
        '..STAMP d 755 0:0',
        '..STAMP/color f 640 0:0',
        '..STAMP/etc d 755 0:0',
        '..STAMP/etc/app.conf f 640 0:0',
        '..STAMP/etc/deep d 755 0:0',
        '..STAMP/etc/deep/x f 640 0:0',
        '..data l 777 0:0 ..STAMP',
        'color l 777 0:0 ..data/color',
        'etc l 777 0:0 ..data/etc',
      ]);
      assert.deepEqual(await visibleFiles(dir.path), { color: 'blue', 'etc/app.conf': 'a=1', 'etc/deep/x': '' });
    });

    test('no files at all are a set too', async () => {
      await using dir = await testDirectory();
      const writer = newWriter();
      await write(writer, dir.path, payloadOf({}));
      assert.deepEqual(await treeOf(dir.path), ['..STAMP d 755 0:0', '..data l 777 0:0 ..STAMP']);
      await write(writer, dir.path, payloadOf({ a: '1' }));
      await write(writer, dir.path, payloadOf({}));
      assert.deepEqual(await treeOf(dir.path), ['..STAMP d 755 0:0', '..data l 777 0:0 ..STAMP']);
    });

    test('names come, change and go', async () => {
      await using dir = await testDirectory();
      const writer = newWriter();
      await write(writer, dir.path, payloadOf({ stays: '1', goes: '1', 'sub/goes': '1' }));
      await write(writer, dir.path, payloadOf({ stays: '2', comes: '2', 'other/comes': '2' }));
      assert.deepEqual(await visibleFiles(dir.path), { comes: '2', 'other/comes': '2', stays: '2' });
      assert.equal((await treeOf(dir.path)).filter((line) => line.startsWith('..STAMP d')).length, 1);
    });

    test('a file becomes a directory and a file again', async () => {
      await using dir = await testDirectory();
      const writer = newWriter();
      for (const files of [{ a: '1' }, { 'a/b': '2' }, { a: '3' }] as readonly Record<string, string>[]) {
        await write(writer, dir.path, payloadOf(files));
        assert.deepEqual(await visibleFiles(dir.path), files);
      }
    });

    test('the same again writes nothing, also after a restart', async () => {
      await using dir = await testDirectory();
      const writer = newWriter();
      await write(writer, dir.path, payloadOf({ a: '1', 'b/c': '2' }));
      const before = await identity(dir.path);
      await write(writer, dir.path, payloadOf({ a: '1', 'b/c': '2' }));
      await write(newWriter(), dir.path, payloadOf({ 'b/c': '2', a: '1' }));
      assert.deepEqual(await identity(dir.path), before);
      await write(writer, dir.path, payloadOf({ a: '1', 'b/c': '3' }));
      assert.notDeepEqual(await identity(dir.path), before);
    });

    test('a directory that another process emptied is filled again', async () => {
      await using dir = await testDirectory();
      const writer = newWriter();
      const directory = join(dir.path, 'v');
      for (let round = 0; round < 2; round += 1) {
        await mkdir(directory);
        await write(writer, directory, payloadOf({ a: '1' }));
        assert.deepEqual(await visibleFiles(directory), { a: '1' });
        await rm(directory, { recursive: true });
      }
    });

    test('places where something else is mounted are left alone', async () => {
      await using dir = await testDirectory();
      const writer = newWriter();
      await mkdir(join(dir.path, 'nested'));
      await writeFile(join(dir.path, 'nested', 'theirs'), 'x');
      await write(writer, dir.path, payloadOf({ a: '1', nested: 'ours' }));
      await write(writer, dir.path, payloadOf({ b: '1' }));
      assert.deepEqual(await visibleFiles(dir.path), { b: '1', 'nested/theirs': 'x' });
    });

    test('bad paths are refused before anything is written', async () => {
      await using dir = await testDirectory();
      for (const path of ['../x', '/x', '..data', 'a/../../b', '']) {
        await assert.rejects(
          write(newWriter(), dir.path, payloadOf({ [path]: 'x' })),
          (error) => codeOf(error) === 'invalid',
        );
      }
      assert.deepEqual(await treeOf(dir.path), []);
    });

    test('a write that fails half-way leaves the old files and no rubbish', async () => {
      await using dir = await testDirectory();
      const writer = newWriter();
      await write(writer, dir.path, payloadOf({ a: '1' }));
      const before = await treeOf(dir.path);
      const impossible = new Map([...payloadOf({ x: '1' }), ...payloadOf({ 'a/b': '1' }), ...payloadOf({ a: '1' })]);
      await assert.rejects(write(writer, dir.path, impossible), (error) =>
        /^files of the volume can't be written: E(NOTDIR|EXIST|ISDIR)/.test(describeError(error)),
      );
      assert.deepEqual(await treeOf(dir.path), before);
      await write(writer, dir.path, payloadOf({ a: '2' }));
      assert.deepEqual(await visibleFiles(dir.path), { a: '2' });
    });

    test('a missing directory is an error with its code', async () => {
      await assert.rejects(
        write(newWriter(), '/nonexistent/volume', payloadOf({ a: '1' })),
        (error) => codeOf(error) === 'notFound',
      );
    });

    test('an abort is no failure of files', async () => {
      await using dir = await testDirectory();
      const reason = new Error('stopping');
      const aborted = AbortSignal.abort(reason);
      const request = { directory: dir.path, payload: payloadOf({ a: '1' }), fsGroup: undefined, medium };
      await assert.rejects(newWriter().write(request, aborted), reason);
    });
  });

  describe(`after a restart, on ${medium}`, () => {
    const damages: readonly (readonly [string, (path: string) => Promise<unknown>])[] = [
      ['other content', (path) => writeFile(join(path, 'a'), '7')],
      ['other length', (path) => writeFile(join(path, 'a'), 'longer')],
      ['other mode', (path) => chmod(join(path, 'a'), 0o666)],
      ['a file more', (path) => writeFile(join(path, '..data', 'more'), 'x')],
      ['a file less', (path) => unlink(join(path, '..data', 'a'))],
      ['no directory', async (path) => rm(join(path, await readlink(join(path, '..data'))), { recursive: true })],
      ['no link to a name', (path) => unlink(join(path, 'a'))],
      ['no link to the directory', (path) => unlink(join(path, '..data'))],
      ['a link to a name that is gone', (path) => symlink('..data/old', join(path, 'old'))],
      ['a link to the next directory', (path) => symlink('..x', join(path, '..data_tmp'))],
      [
        'a directory of a write that was cut',
        (path) => mkdir(join(path, '..2020_01_01_00_00_00.1/sub'), { recursive: true }),
      ],
      [
        'a link instead of a file',
        async (path) => {
          await unlink(join(path, '..data', 'a'));
          await symlink('/etc/passwd', join(path, '..data', 'a'));
        },
      ],
    ];
    for (const [name, damage] of damages) {
      test(`${name} is put right`, async () => {
        await using dir = await testDirectory();
        const payload = payloadOf({ a: '1', 'b/c': '2' });
        await write(newWriter(), dir.path, payload);
        const whole = await treeOf(dir.path);
        await damage(dir.path);
        await write(newWriter(), dir.path, payload);
        assert.deepEqual(await treeOf(dir.path), whole);
        assert.deepEqual(await visibleFiles(dir.path), { a: '1', 'b/c': '2' });
      });
    }
  });

  test(`owner and group of files, on ${medium}`, async () => {
    await using dir = await testDirectory();
    const { path } = dir;
    await chown(path, 0, 3000);
    await chmod(path, 0o3777);
    const payload = new Map([
      ...payloadOf({ ca: 'x', 'd/e': 'y' }),
      ['token', { data: new Uint8Array(), mode: 0o600, owner: 1000 }],
    ]);
    const writer = newWriter();
    await writer.write({ directory: path, payload, fsGroup: 3000, medium }, signal);
    assert.deepEqual(await treeOf(path), [
      '..STAMP d 2755 0:3000',
      '..STAMP/ca f 644 0:3000',
      '..STAMP/d d 2755 0:3000',
      '..STAMP/d/e f 644 0:3000',
      '..STAMP/token f 640 1000:3000',
      '..data l 777 0:3000 ..STAMP',
      'ca l 777 0:3000 ..data/ca',
      'd l 777 0:3000 ..data/d',
      'token l 777 1000:3000 ..data/token',
    ]);
    const before = await identity(path);
    await newWriter().write({ directory: path, payload, fsGroup: 3000, medium }, signal);
    assert.deepEqual(await identity(path), before);
  });
}
