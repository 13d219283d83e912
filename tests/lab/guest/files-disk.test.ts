import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { captureOk } from '../../../tools/machine/capture.ts';
import { checkedName, makeFilesDisk } from './files-disk.ts';

async function workDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-ts-disk-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

const ask = async (disk: string, request: string) => (await captureOk(['debugfs', '-R', request, disk])).stdout;

test('the disk holds files, directories and given content, with their modes', async (t) => {
  const work = await workDirectory(t);
  const program = join(work, 'program');
  await writeFile(program, '#!/bin/sh\n');
  await chmod(program, 0o755);
  await mkdir(join(work, 'tree', 'below'), { recursive: true });
  await writeFile(join(work, 'tree', 'below', 'leaf'), 'leaf');
  await symlink('below/leaf', join(work, 'tree', 'link'));
  const big = Buffer.alloc(40 * 1024 * 1024, 'x');

  const disk = join(work, 'files.img');
  await makeFilesDisk(
    {
      'bin/program': program,
      tree: join(work, 'tree'),
      'secret/text': { content: 'text\n', mode: 0o600 },
      big: { content: big },
    },
    disk,
  );

  assert.equal(await ask(disk, 'cat /bin/program'), '#!/bin/sh\n');
  assert.match(await ask(disk, 'stat /bin/program'), /Mode: +0755/);
  assert.equal(await ask(disk, 'cat /tree/below/leaf'), 'leaf');
  assert.match(await ask(disk, 'stat /tree/link'), /Fast link dest: "below\/leaf"/);
  assert.match(await ask(disk, 'stat /secret/text'), /Mode: +0600/);
  assert.match(await ask(disk, 'stat /big'), /Size: 41943040/);
  assert.deepEqual((await readdir(work)).sort(), ['files.img', 'program', 'tree'], 'nothing else is left');
  assert.equal((await stat(program)).mode & 0o777, 0o755, 'the source is untouched');
});

test('no files make an empty disk', async (t) => {
  const disk = join(await workDirectory(t), 'files.img');
  await makeFilesDisk({}, disk);
  assert.match(await ask(disk, 'ls /'), /lost\+found/);
});

test('a file that does not exist is an error that names it, and no half disk stays', async (t) => {
  const work = await workDirectory(t);
  await assert.rejects(makeFilesDisk({ x: join(work, 'missing') }, join(work, 'files.img')), /missing/);
  assert.deepEqual(await readdir(work), []);
});

for (const name of ['', '.', '/etc/passwd', '..', '../x', 'a/../../x']) {
  test(`${JSON.stringify(name)} is no path for a file`, () => assert.throws(() => checkedName(name), /no path below/));
}
for (const [name, path] of [
  ['a', 'a'],
  ['a/./b', 'a/b'],
  ['a/../b', 'b'],
  ['..a', '..a'],
] as const) {
  test(`${JSON.stringify(name)} is ${path}`, () => assert.equal(checkedName(name), path));
}
