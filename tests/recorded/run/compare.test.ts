import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createJudge, type Difference, diffLines } from './compare.ts';

const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');

const diffs: readonly (readonly [from: string, to: string, expected: readonly string[]])[] = [
  ['', '', []],
  ['a b c', 'a b c', []],
  ['a b c', 'a c', ['- b']],
  ['a c', 'a b c', ['+ b']],
  ['a b', '', ['- a', '- b']],
  ['', 'a', ['+ a']],
  ['a b c', 'a x c', ['- b', '+ x']],
  ['a a', 'a', ['- a']],
  ['a b', 'b a', ['- a', '+ a']],
];
for (const [from, to, expected] of diffs) {
  test(`from "${from}" to "${to}"`, () => assert.deepEqual(diffLines(words(from), words(to)), expected));
}

const difference = (more: Partial<Difference>): Difference => ({
  items: ['env'],
  lines: ['- B=.*'],
  reason: 'meant',
  ...more,
});
const life = { name: 'web', restartPolicy: 'Always' };
const item = { name: 'env', recorded: ['A=1', 'B=2', 'C=3'], seen: ['A=1', 'C=4'] };

const cases: readonly (readonly [string, Partial<Difference>, readonly string[]])[] = [
  ['explains its line only', {}, ['- C=3', '+ C=4']],
  ['explains nothing in another item', { items: ['hosts'] }, ['- B=2', '- C=3', '+ C=4']],
  ['explains nothing in another life', { lives: ['db'] }, ['- B=2', '- C=3', '+ C=4']],
  ['explains in its life', { lives: ['db', 'web'] }, ['- C=3', '+ C=4']],
  ['explains nothing under another restart policy', { restartPolicy: 'Never' }, ['- B=2', '- C=3', '+ C=4']],
  ['must fit the whole line', { lines: ['- B'] }, ['- B=2', '- C=3', '+ C=4']],
  ['tells what is missing from what is added', { lines: ['[-] C=.*'] }, ['- B=2', '+ C=4']],
];
for (const [what, more, unexplained] of cases) {
  test(`a difference ${what}`, () => {
    assert.deepEqual(createJudge([difference(more)]).judge(life, item).unexplained, unexplained);
  });
}

test('a difference that is not met is told, unless it shows only sometimes', () => {
  const judge = createJudge([
    difference({ reason: 'met' }),
    difference({ reason: 'not met', lines: ['- X'] }),
    difference({ reason: 'now and then', lines: ['- Y'], sometimes: true }),
  ]);
  judge.judge(life, item);
  assert.deepEqual(judge.unused(), ['not met: - X']);
});
