import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readProgress } from './run.ts';
import { judge, readNames, readReport, renderVerdict, writeNames } from './verdict.ts';

const spec = (text: string, state: string, message?: string) => ({
  ContainerHierarchyTexts: ['[sig-node] Pods'],
  LeafNodeType: 'It',
  LeafNodeText: text,
  State: state,
  ...(message === undefined ? {} : { Failure: { Message: message } }),
});

describe("ginkgo's report", () => {
  const suite = [
    spec('runs', 'passed'),
    spec('breaks', 'failed', 'expected 1\ngot 2'),
    spec('hangs', 'timedout'),
    spec('does not fit here', 'skipped'),
    { ContainerHierarchyTexts: null, LeafNodeType: 'SynchronizedBeforeSuite', LeafNodeText: '', State: 'passed' },
  ];

  test('gives what ran, under full names, failures with their words', () => {
    assert.deepEqual(readReport(JSON.stringify([{ SpecReports: suite }])), [
      { name: '[sig-node] Pods runs', passed: true },
      { name: '[sig-node] Pods breaks', passed: false, message: 'expected 1\ngot 2' },
      { name: '[sig-node] Pods hangs', passed: false },
    ]);
  });

  test('shows a suite that could not be set up as a failure', () => {
    const setUp = { LeafNodeType: 'SynchronizedBeforeSuite', LeafNodeText: '', State: 'failed' };
    assert.deepEqual(readReport(JSON.stringify([{ SpecReports: [setUp] }])), [
      { name: 'SynchronizedBeforeSuite', passed: false },
    ]);
  });

  test('of an empty suite holds nothing', () => assert.deepEqual(readReport('[{}]'), []));
  test('that is no JSON is an error', () => assert.throws(() => readReport('Ran 0 of')));
});

describe('the verdict', () => {
  const results = [
    { name: 'a', passed: true },
    { name: 'b', passed: false, message: 'boom' },
    { name: 'c', passed: false },
    { name: 'd', passed: true },
  ];
  const verdict = judge(results, readNames('a\nb\nnot run here\n'));

  test('tells our failures from those of the lab', () => {
    assert.deepEqual(verdict, {
      passed: ['a', 'd'],
      ourFault: [{ name: 'b', passed: false, message: 'boom' }],
      labFault: [{ name: 'c', passed: false }],
      unlisted: ['d'],
    });
  });

  test('is told with every failed name', () => {
    const text = renderVerdict(verdict, 'ours');
    assert.match(text, /^2 passed, 2 failed, of 4 \(kubelet: ours\)\n/);
    assert.match(text, /passed by the reference in the same lab:\n {2}b\n {6}boom\n/);
    assert.match(text, /not on the list of what the reference passes in this lab:\n {2}c\n/);
  });

  test('of a clean run is one line', () => {
    assert.equal(
      renderVerdict(judge([{ name: 'a', passed: true }], new Set(['a'])), 'ours')
        .trim()
        .split('\n').length,
      1,
    );
  });
});

test('a list of names survives writing and reading, sorted', () => {
  assert.equal(writeNames(['b', 'a']), 'a\nb\n');
  assert.deepEqual([...readNames(writeNames(['b', 'a']))], ['a', 'b']);
});

describe('the progress of a run', () => {
  const cases: readonly [string, ReturnType<typeof readProgress>][] = [
    ['', { done: 0, failed: 0, total: undefined }],
    ['Will run 103 of 7579 specs\n', { done: 0, failed: 0, total: 103 }],
    ['Will run 3 of 9 specs\n•\n• [FAILED] [1.2 seconds]\n  • no spec\n•\n', { done: 3, failed: 1, total: 3 }],
  ];
  for (const [log, expected] of cases) {
    test(JSON.stringify(log), () => assert.deepEqual(readProgress(log), expected));
  }
});
