import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLibraries, programFiles } from './libraries.ts';

const OUTPUT = `
	linux-vdso.so.1 (0x00007ffc2a5f2000)
	libtinfo.so.6 => /lib/x86_64-linux-gnu/libtinfo.so.6 (0x00007f0a)
	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f0b)
	/lib64/ld-linux-x86-64.so.2 (0x00007f0c)
`;

test('finds libraries and the loader, and leaves out what the kernel provides', () => {
  assert.deepEqual(parseLibraries(OUTPUT), [
    '/lib/x86_64-linux-gnu/libtinfo.so.6',
    '/lib/x86_64-linux-gnu/libc.so.6',
    '/lib64/ld-linux-x86-64.so.2',
  ]);
});

test('a static program has none', () => {
  assert.deepEqual(parseLibraries('\tstatically linked\n'), []);
});

test('a missing library is an error that names it', () => {
  assert.throws(() => parseLibraries('\tlibgone.so.1 => not found\n'), /libgone\.so\.1/);
});

test('a shared library of two programs is there once', async () => {
  const paths = (await programFiles(['/bin/bash', '/bin/ls'])).map(({ path }) => path);
  assert.equal(paths.filter((path) => path.endsWith('/libc.so.6')).length, 1);
  assert.ok(paths.includes('/bin/bash') && paths.includes('/bin/ls'));
});
