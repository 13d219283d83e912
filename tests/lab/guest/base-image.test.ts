/** The disk of the guests: made once, whole or not at all, and loudly missing where it can't be made. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSystemClock } from '../../../src/base/clock.ts';
import type { Command, CommandOutcome } from '../../../tools/machine/command.ts';
import { type BaseImageDeps, baseFiles, ensureBaseImage } from './base-image.ts';

const never = new AbortController().signal;
const done: CommandOutcome = { code: 0, stdout: '', lastLines: [] };

/** A machine on which apt and the making of the disk are played by `make`. */
async function playedMachine(t: TestContext, make: (output: string) => Promise<CommandOutcome>) {
  const cacheDirectory = await mkdtemp(join(tmpdir(), 'kubelet-ts-base-'));
  t.after(() => rm(cacheDirectory, { recursive: true }));
  const made: string[] = [];
  const deps: BaseImageDeps = {
    env: process.env,
    cacheDirectory,
    installPackages: () => Promise.resolve(),
    progress: { line: () => undefined, status: () => undefined },
    clock: createSystemClock(),
    run: async ({ argv }: Command) => {
      if (argv[0] === 'apt-get') return { ...done, stdout: 'Debian|bookworm|main|http://mirror.test/' };
      const output = argv.at(-1) ?? '';
      made.push(argv.slice(-5, -3).join(' '));
      return await make(output);
    },
  };
  return {
    deps,
    made,
    kept: async () => (await readdir(join(cacheDirectory, 'guest'))).filter((name) => name !== 'lock'),
  };
}

const writeImage = async (output: string) => {
  for (const name of ['disk.img', 'vmlinuz', 'initrd.img']) await writeFile(join(output, name), '');
  return done;
};

test('two at once make it once, from the mirror of the machine; after that it is only looked up', async (t) => {
  const { deps, made, kept } = await playedMachine(t, writeImage);
  const [one, two] = await Promise.all([ensureBaseImage(deps, never), ensureBaseImage(deps, never)]);
  assert.deepEqual(one, two);
  assert.deepEqual(await ensureBaseImage(deps, never), one);
  assert.deepEqual(made, ['bookworm http://mirror.test/']);
  const [directory = ''] = await kept();
  assert.deepEqual((await readdir(join(deps.cacheDirectory, 'guest', directory))).sort(), [
    'disk.img',
    'initrd.img',
    'vmlinuz',
  ]);
});

test('a failure says what the tool said, and leaves nothing behind', async (t) => {
  const { deps, kept } = await playedMachine(t, async (output) => {
    await mkdir(join(output, 'root', 'debootstrap'), { recursive: true });
    await writeFile(join(output, 'root', 'debootstrap', 'debootstrap.log'), 'wget: unable to resolve host\n');
    return { code: 1, stdout: '', lastLines: ['E: Failed getting release file'] };
  });
  await assert.rejects(
    ensureBaseImage(deps, never),
    /bookworm at http:\/\/mirror.test\/ \(ended with 1\):\n {2}E: Failed getting release file\n {2}wget: unable to resolve/,
  );
  assert.deepEqual(await kept(), []);
});

test('a machine that can not install the tools is told so', async (t) => {
  const { deps } = await playedMachine(t, writeImage);
  const installPackages = () => Promise.reject(new Error('debootstrap could not be installed'));
  await assert.rejects(ensureBaseImage({ ...deps, installPackages }, never), /debootstrap could not be installed/);
});

test('halves and old images go when a new one is made; the one before stays', async (t) => {
  const { deps, kept } = await playedMachine(t, writeImage);
  for (const [name, age] of [
    ['older', 200],
    ['old', 100],
    ['.building-1', 0],
  ] as const) {
    const directory = join(deps.cacheDirectory, 'guest', name);
    await mkdir(directory, { recursive: true });
    const at = Date.now() / 1000 - age;
    await utimes(directory, at, at);
  }
  await ensureBaseImage(deps, never);
  const names = await kept();
  assert.equal(names.length, 2);
  assert.ok(names.includes('old'));
});

test('every mark in the files is filled in, and what must be executable is', async () => {
  const files = await baseFiles();
  for (const { path, text } of files) assert.doesNotMatch(text, /@[A-Z_]+@/, path);
  assert.equal(files.find(({ path }) => path === 'usr/local/sbin/lab-agent')?.mode, 0o755);
});
