import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { errnoName, hasErrno, ifPathMissing, isMissing, isPathMissing } from './errno.ts';
import { CodedError } from './errors.ts';

const node = (code: string) => Object.assign(new Error(code), { code });

test('the name of a failure is found in errors of Node and in coded errors', () => {
  assert.equal(errnoName(node('EXDEV')), 'EXDEV');
  assert.equal(errnoName(new CodedError('notFound', 'openat', { data: { name: 'ELOOP' } })), 'ELOOP');
  assert.equal(errnoName(new Error('other')), undefined);
  assert.equal(errnoName('ENOENT'), undefined);
});

test('a missing file, a file in the place of a directory, and other failures', () => {
  assert.deepEqual(
    ['ENOENT', 'ENOTDIR', 'EACCES'].map((name) => [isMissing(node(name)), isPathMissing(node(name))]),
    [
      [true, true],
      [false, true],
      [false, false],
    ],
  );
  assert.equal(hasErrno(node('ESRCH'), 'ENOENT', 'ESRCH'), true);
  assert.equal(hasErrno(new Error('none')), false);
});

test('a value stands for a missing path, and other failures stay failures', async () => {
  assert.equal(await readFile('/nowhere/at/all', 'utf8').catch(ifPathMissing('nothing')), 'nothing');
  await assert.rejects(readFile('/', 'utf8').catch(ifPathMissing('nothing')), { code: 'EISDIR' });
});
