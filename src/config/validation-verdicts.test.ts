/**
 * Verdicts recorded from the reference kubelet 1.36.4, beyond those of config-verdicts.test.ts: one for every row of the
 * tables in rules/ and for the corners of the syntaxes, each started for real beside a containerd.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeInLab, readRecord, saidTo } from './lab-testing.ts';

/** Where ours differs on purpose. */
const differences: Readonly<Record<string, 'accepted' | 'refused'>> = {
  // A size with a fraction and a binary suffix is as whole as any other once it is multiplied out.
  'log size': 'accepted',
  'log size 1.0Mi': 'accepted',
  'static fraction': 'accepted',
  // Go's other ways to write a number have no place in a percentage.
  'hard 0x1p3%': 'refused',
  'hard 1_0%': 'refused',
  // An unknown field to us, so a warning; refused with --strict-config.
  'taint timeAdded': 'accepted',
};

const recorded = readRecord('validation-verdicts.jsonl');

test('the list of differences matches the record and is not empty', () => {
  for (const [name, verdict] of Object.entries(differences)) {
    assert.notEqual(recorded.find((one) => one.name === name)?.verdict ?? verdict, verdict, name);
  }
});

for (const [index, { name, config, flags, verdict }] of recorded.entries()) {
  const expected = differences[name] ?? verdict;
  test(`${index} ${expected}: ${name}`, () => {
    const outcome = judgeInLab(config, flags);
    const found = outcome.kind === 'ready' ? 'accepted' : outcome.kind;
    assert.equal(
      found,
      expected,
      `${JSON.stringify(config)} ${flags.join(' ')}\n${saidTo(outcome, 'problems').join('\n')}`,
    );
  });
}
