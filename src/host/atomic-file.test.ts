import assert from 'node:assert/strict';
import { mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { writeFileAtomically } from './atomic-file.ts';

for (const durable of [true, false]) {
  test(`a ${durable ? 'durable ' : ''}file is replaced as a whole and keeps nothing of a broken write`, async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'atomic-file-'));
    const path = join(directory.path, 'record.json');
    await writeFile(`${path}.new`, 'half of an earlier, longer content');
    await writeFileAtomically(path, 'first', { mode: 0o600, durable });
    const old = await stat(path);
    await writeFileAtomically(path, 'second', { mode: 0o600, durable });
    assert.equal(await readFile(path, 'utf8'), 'second');
    assert.notEqual((await stat(path)).ino, old.ino);
    assert.deepEqual(await readdir(directory.path), ['record.json']);
  });
}

test('the mode is the one asked for', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'atomic-file-'));
  const path = join(directory.path, 'key');
  await writeFileAtomically(path, 'secret', { mode: 0o600, durable: false });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('a failure leaves the old file and no temporary one', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'atomic-file-'));
  const path = join(directory.path, 'taken');
  await mkdir(join(path, 'content'), { recursive: true });
  await assert.rejects(writeFileAtomically(path, 'text', { mode: 0o600, durable: false }), { code: 'EISDIR' });
  assert.deepEqual(await readdir(directory.path), ['taken']);
  const deep = join(directory.path, 'none', 'file');
  await assert.rejects(writeFileAtomically(deep, '', { mode: 0o600, durable: true }), { code: 'ENOENT' });
  await writeFileAtomically(deep, 'made', { mode: 0o600, directoryMode: 0o700, durable: true });
  assert.equal((await stat(dirname(deep))).mode & 0o777, 0o700);
  assert.equal(await readFile(deep, 'utf8'), 'made');
});
