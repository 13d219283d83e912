import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Count, countFrom, countResult, type ProbeResult, type ProbeType } from './verdict.ts';

interface Case {
  readonly type: ProbeType;
  readonly thresholds: { readonly failureThreshold?: number; readonly successThreshold?: number };
  readonly from?: Count['verdict'];
  /** s: success, f: failure. */
  readonly results: string;
  /** The verdict after each result: s, f, or ? for unknown. */
  readonly verdicts: string;
  readonly settledAfter?: number;
}

const LETTERS = { success: 's', failure: 'f', unknown: '?' } as const;

const cases: readonly Case[] = [
  { type: 'readiness', thresholds: {}, results: 'sfffs', verdicts: 'sssfs' },
  { type: 'readiness', thresholds: { failureThreshold: 1 }, results: 'sfs', verdicts: 'sfs' },
  {
    type: 'readiness',
    thresholds: { successThreshold: 3, failureThreshold: 1 },
    results: 'sssfsss',
    verdicts: '??sfffs',
  },
  // One that breaks the row begins it again.
  { type: 'readiness', thresholds: { failureThreshold: 2 }, from: 'success', results: 'fsfsff', verdicts: 'sssssf' },
  { type: 'readiness', thresholds: { failureThreshold: 3 }, results: 'ff', verdicts: '??' },
  // What was known before a restart stands until a whole row speaks against it.
  { type: 'readiness', thresholds: { failureThreshold: 3 }, from: 'success', results: 'fff', verdicts: 'ssf' },
  { type: 'readiness', thresholds: { successThreshold: 2 }, from: 'failure', results: 'ss', verdicts: 'fs' },
  { type: 'liveness', thresholds: { failureThreshold: 2 }, results: 'sff', verdicts: 'ssf', settledAfter: 3 },
  { type: 'liveness', thresholds: {}, results: 'sfsf', verdicts: 'ssss' },
  { type: 'startup', thresholds: { failureThreshold: 3 }, results: 'ffs', verdicts: '??s', settledAfter: 3 },
  { type: 'startup', thresholds: { failureThreshold: 2 }, results: 'ff', verdicts: '?f', settledAfter: 2 },
];

for (const { type, thresholds, from = 'unknown', results, verdicts, settledAfter } of cases) {
  test(`${type} ${JSON.stringify(thresholds)} from ${from}: ${results} gives ${verdicts}`, () => {
    let count = countFrom(type, from);
    let seen = '';
    for (const [index, letter] of [...results].entries()) {
      const result: ProbeResult = letter === 's' ? 'success' : 'failure';
      count = countResult(type, thresholds, count, result);
      seen += LETTERS[count.verdict];
      assert.equal(count.settled, settledAfter === index + 1, `settled after result ${index + 1}`);
    }
    assert.equal(seen, verdicts);
  });
}

test('a container that has passed its startup probe before is not asked again; a readiness that is known is', () => {
  assert.equal(countFrom('startup', 'success').settled, true);
  assert.equal(countFrom('startup', 'unknown').settled, false);
  assert.equal(countFrom('readiness', 'failure').settled, false);
  assert.equal(countFrom('liveness', 'unknown').settled, false);
});
