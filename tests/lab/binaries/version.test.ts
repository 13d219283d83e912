import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtLeast, parseVersion, type Version } from './version.ts';

for (const [text, version] of [
  ['go1.26.8', [1, 26, 8]],
  ['go1.26', [1, 26, 0]],
  ['go1.27rc1', [1, 27, 0]],
  ['etcd Version: 3.6.8\nGit SHA: 1a2.3', [3, 6, 8]],
  ['Kubernetes v1.36.4', [1, 36, 4]],
  ['Client Version: v1.36.4-rc.1\nKustomize Version: v5.7.1', [1, 36, 4]],
  ['devel', undefined],
  ['', undefined],
  ['7', undefined],
] as const) {
  test(`version in ${JSON.stringify(text)}`, () => assert.deepEqual(parseVersion(text), version));
}

for (const [have, need, enough] of [
  [[3, 5, 13], [3, 5, 13], true],
  [[3, 5, 12], [3, 5, 13], false],
  [[3, 6, 0], [3, 5, 13], true],
  [[3, 4, 99], [3, 5, 13], false],
  [[4, 0, 0], [3, 5, 13], true],
  [[2, 9, 99], [3, 5, 13], false],
] as const satisfies readonly (readonly [Version, Version, boolean])[]) {
  test(`${have.join('.')} is ${enough ? '' : 'not '}at least ${need.join('.')}`, () => {
    assert.equal(isAtLeast(have, need), enough);
  });
}
