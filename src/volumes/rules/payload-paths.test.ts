import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cleanPayload, directoriesByDepth, pathFault, topNames } from './payload-paths.ts';

const file = { data: new Uint8Array(), mode: 0o644 };
const long = 'n'.repeat(256);

describe('paths that lead out of the volume, or into its machinery', () => {
  const bad: readonly (readonly [string, string])[] = [
    ['', 'must not be empty: ""'],
    ['/etc/passwd', 'must be relative path: /etc/passwd'],
    ['..', "must not contain '..': .."],
    ['../x', "must not contain '..': ../x"],
    ['a/../../x', "must not contain '..': a/../../x"],
    ['a/..', "must not contain '..': a/.."],
    ['..data', "must not start with '..': ..data"],
    ['..2026/x', "must not start with '..': ..2026/x"],
    ['./..data', "must not start with '..': ./..data"],
    ['.//..data', "must not start with '..': .//..data"],
    ['a\0b', 'must not contain a zero byte: "a\\x00b"'],
    [long, 'filenames must be less than or equal to 255 characters'],
    [`a/${'ü'.repeat(128)}`, 'filenames must be less than or equal to 255 characters'],
    ['a/'.repeat(2049), 'must be less than or equal to 4096 characters'],
  ];
  for (const [path, fault] of bad) {
    test(JSON.stringify(path.slice(0, 30)), () => {
      assert.equal(pathFault(path), fault);
      assert.deepEqual(cleanPayload(new Map([[path, file]])), { ok: false, problem: `invalid path: ${fault}` });
    });
  }
  test('a path that names nothing', () => {
    assert.deepEqual(cleanPayload(new Map([['./.', file]])), {
      ok: false,
      problem: 'invalid path: must name a file: "./."',
    });
  });
});

test('paths that will do', () => {
  for (const path of ['a', 'a.b.c', '.hidden', 'a..b', 'a/..b', 'a/b/c', '-', 'n'.repeat(255), '__proto__']) {
    assert.equal(pathFault(path), undefined, path);
  }
});

test('paths come out in their shortest form', () => {
  const clean = cleanPayload(new Map([['./a//b/./c', file]]));
  assert.deepEqual(clean.ok && [...clean.value.keys()], ['a/b/c']);
});

test('a payload that is clean keeps its identity', () => {
  const payload = new Map([['a/b', file]]);
  const clean = cleanPayload(payload);
  assert.ok(clean.ok && clean.value === payload);
});

test('names and directories of paths', () => {
  const paths = ['a/b/c', 'a/d', 'e', 'f/g'];
  assert.deepEqual([...topNames(paths)], ['a', 'e', 'f']);
  assert.deepEqual(directoriesByDepth(paths), [['a', 'f'], ['a/b']]);
  assert.deepEqual(directoriesByDepth(['x']), []);
});
