import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestName, suggestion } from './nearest.ts';

const known = ['max-pods', 'max-open-files', 'port', 'read-only-port', 'node-ip'];
const cases: [string, string | undefined][] = [
  ['max-podz', 'max-pods'],
  ['maxpods', 'max-pods'],
  ['prot', 'port'],
  ['MAX-PODS', 'max-pods'],
  ['read-onlyport', 'read-only-port'],
  ['completely-different', undefined],
  ['', undefined],
];
for (const [wanted, expected] of cases) {
  test(`${JSON.stringify(wanted)} is nearest to ${expected}`, () => {
    assert.equal(nearestName(wanted, known), expected);
  });
}

test('a suggestion can be appended to a sentence', () => {
  assert.equal(
    suggestion('prot', known, (n) => `--${n}`),
    '; did you mean --port?',
  );
  assert.equal(suggestion('completely-different', known), '');
});
