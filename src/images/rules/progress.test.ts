import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeProgress, nextReport } from './progress.ts';

test('reported often at first, then seldom', () => {
  const seconds: number[] = [];
  for (let at = nextReport(0); seconds.length < 8; at = nextReport(at)) seconds.push(at / 1000);
  assert.deepEqual(seconds, [15, 30, 60, 120, 240, 480, 720, 960]);
});

const MB = 1e6;
const cases: readonly (readonly [string, Parameters<typeof describeProgress>[2], string])[] = [
  ['a runtime that can not say', undefined, 'Still pulling image "a:1" after 1m30s'],
  ['nothing is downloaded now', [], 'Still pulling image "a:1" after 1m30s'],
  [
    'one layer',
    [{ receivedBytes: 1.25 * MB, totalBytes: 10 * MB }],
    'Still pulling image "a:1" after 1m30s: 1.3 MB of 10.0 MB received of 1 layer under way',
  ],
  [
    'two layers',
    [
      { receivedBytes: MB, totalBytes: 10 * MB },
      { receivedBytes: 2 * MB, totalBytes: 30 * MB },
    ],
    'Still pulling image "a:1" after 1m30s: 3.0 MB of 40.0 MB received of 2 layers under way',
  ],
  [
    'a size that no one knows',
    [{ receivedBytes: MB, totalBytes: 0 }],
    'Still pulling image "a:1" after 1m30s: 1.0 MB received of 1 layer under way',
  ],
];
for (const [name, downloads, text] of cases) {
  test(name, () => assert.equal(describeProgress('a:1', 90_200, downloads), text));
}
